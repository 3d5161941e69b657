#!/usr/bin/env bash
# Builds the library by Maven with Debian's packages and no network, installs it into a local repository, and uses it from
# there in an app, on the class path and as a module.

set -euo pipefail
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "test-maven.sh: $1" >&2
    exit 1
}

cat > "$folder/settings.xml" << END
<settings>
  <localRepository>$folder/repository</localRepository>
  <mirrors>
    <mirror><id>debian</id><mirrorOf>*</mirrorOf><url>file:///usr/share/maven-repo</url></mirror>
  </mirrors>
</settings>
END
maven() { mvn --batch-mode --quiet --settings "$folder/settings.xml" "$@"; }

cp -R pom.xml src annotations CHANGELOG.md "$folder"
version=$(sed -n 's/^## \([^ ]*\).*/\1/p' CHANGELOG.md | sed 1q)
grep -q "<version>$version</version>" pom.xml || fail "pom.xml has another version than CHANGELOG.md, $version"
for part in name description url license developer scm; do
    grep -q "^  *<$part>" pom.xml || fail "pom.xml has no $part, which Maven Central asks for"
done
maven --file "$folder/pom.xml" install
name=versiongate-$version
place=$folder/repository/dev/versiongate/versiongate/$version
for file in "$name.jar" "$name-sources.jar" "$name-javadoc.jar" "$name.pom"; do
    [ -s "$place/$file" ] || fail "$file is missing"
done
others=$(jar tf "$place/$name.jar" | grep -Ev '/$|^META-INF/MANIFEST\.MF$|^dev/versiongate/VersionGate' || true)
[ -z "$others" ] || fail "these are in the jar as well: $others"
jar tf "$place/$name-sources.jar" | grep -qx dev/versiongate/VersionGate.java || fail "the sources are not in their jar"
jar tf "$place/$name-javadoc.jar" | grep -qx dev/versiongate/VersionGate.html || fail "the documentation is not in its jar"

mkdir -p "$folder/app/src/main/java/app"
cat > "$folder/app/pom.xml" << END
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>app</groupId>
  <artifactId>app</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.release>11</maven.compiler.release>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency>
      <groupId>dev.versiongate</groupId>
      <artifactId>versiongate</artifactId>
      <version>$version</version>
    </dependency>
  </dependencies>
  <build>
    <plugins>
      <plugin><artifactId>maven-compiler-plugin</artifactId><version>3.10.1</version></plugin>
      <plugin><artifactId>maven-resources-plugin</artifactId><version>3.3.0</version></plugin>
    </plugins>
  </build>
</project>
END
echo 'module app { requires dev.versiongate; }' > "$folder/app/src/main/java/module-info.java"
cat > "$folder/app/src/main/java/app/App.java" << 'END'
package app;

import dev.versiongate.VersionGate;

public class App {
    public static void main(String[] arguments) {
        System.out.println(VersionGate.class.getName() + " of " + VersionGate.class.getModule().getName());
    }
}
END
maven --file "$folder/app/pom.xml" compile
found=$(java --module-path "$folder/app/target/classes:$place/$name.jar" --module app/app.App)
[ "$found" = "dev.versiongate.VersionGate of dev.versiongate" ] || fail "as a module the app prints: $found"
found=$(java -cp "$folder/app/target/classes:$place/$name.jar" app.App)
[ "$found" = "dev.versiongate.VersionGate of null" ] || fail "on the class path the app prints: $found"
echo "An app uses $name by its name."
