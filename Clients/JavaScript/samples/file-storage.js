// Keeps the text of the library in a file, for Node and Electron.

import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** A storage in a folder of the app's own data. */
export function fileStorage(folder) {
  const file = `${folder}/versiongate.json`;
  return {
    getItem: () => readFileSync(file, 'utf8'),
    setItem(name, text) {
      writeFileSync(`${file}.new`, text);
      renameSync(`${file}.new`, file);
    },
    removeItem: () => rmSync(file, { force: true }),
  };
}
