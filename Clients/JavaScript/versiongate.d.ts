/** What the server is told of the app. A member that is null or empty is not sent. */
export interface App {
  /** The bundle or package identifier: `com.example.doto`. */
  bundle: string;
  version?: string | null;
  build?: string | null;
  /** `ios`, `android`, `macos`, `windows`, `linux`, `web`. In a page it is `web` unless given. */
  platform?: string | null;
  /** The version of the operating system. */
  os?: string | null;
  /** A country (`AT`). Unless given, the one of `navigator.language`. */
  region?: string | null;
  /** A language tag (`de-AT`). Unless given, `navigator.language`. */
  language?: string | null;
  /** What rules can have as a condition besides, such as `channel`. */
  attributes?: Record<string, string | number | boolean | null | undefined>;
}

/** Where one text is kept: `localStorage`, React Native's `AsyncStorage`, or an object with the same three methods. */
export interface GateStorage {
  getItem(name: string): string | null | undefined | Promise<string | null | undefined>;
  setItem(name: string, text: string): unknown;
  removeItem(name: string): unknown;
}

export interface GateRequest {
  readonly url: string;
  readonly method: 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Aborted when the check is over. */
  readonly signal: AbortSignal;
}

export interface Answer {
  status: number;
  body: string;
  /** The header `Date`, if there is one. */
  date?: string | null;
  /** The headers by their names in lower case; those of a signature are read, if there are public keys. */
  headers?: Readonly<Record<string, string | null | undefined>>;
}

export interface Options {
  /** The address of the server: `https://gate.example.com`. */
  server: string;
  app: App;
  /** `localStorage` unless given, where there is one. With null everything is forgotten when the app ends. */
  storage?: GateStorage | null;
  /** Milliseconds since 1970. `Date.now` unless given. */
  clock?: () => number;
  /** Asks the server. It must not follow redirects. Uses `fetch` unless given. */
  transport?: (request: GateRequest) => Promise<Answer>;
  /** For how many days a lockout holds while the server does not answer: 0 to 90, 7 unless given. */
  maximumAge?: number;
  /**
   * Lockouts hold only if one of these keys has signed them: the lines that `versiongate lockout-key new` prints. All
   * others are plain messages. Needs WebCrypto, which pages have over HTTPS and Node from 20 on; without it none holds.
   */
  publicKeys?: readonly string[];
  /** Is told what each check did. Unless given, a development build says its first fault on the console. */
  observer?: (report: Report) => void;
}

/** What a check did. Checks that share a question are one. */
export interface Report {
  /** `asked`: a question was sent, or tried. `kept`: it was too early for one. */
  readonly outcome: 'asked' | 'kept';
  /** The status of HTTP, if the server answered. */
  readonly status: number | undefined;
  /** Why the check has failed; undefined if it has not. */
  readonly fault: string | undefined;
  readonly milliseconds: number;
  /** How many messages it gave. */
  readonly messages: number;
}

/** A message to show. Title and text are plain text. */
export interface Message {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  /** An address to open. It has a scheme that is safe to open. */
  readonly link: string | undefined;
  /** The version that the message asks to update to, if the server names it. */
  readonly target: string | undefined;
  /** The app must not go on. */
  readonly lockout: boolean;
  /** Of a lockout that ends by itself: the seconds that are left when it is given. */
  readonly left: number | undefined;
  /** The person may choose never to see the message again. */
  readonly skippable: boolean;
  /** The person closed the message. */
  dismiss(): void;
  /** The person wants never to see the message again. If it is not skippable, it is closed. */
  skip(): void;
  /** The person followed the link, which is returned. */
  opened(): string | undefined;
}

/** Asks a versiongate server which messages an app is to show. One object is one start of the app. */
export class VersionGate {
  /** Throws a TypeError or a RangeError if the options are wrong. */
  constructor(options: Options);
  /**
   * A gate that gives these messages and asks no server, to try them inside the app. It keeps nothing. Throws a TypeError
   * if `answer` is not what `/v1/check` answers (`{"messages":[...]}`), or one of its messages cannot be read.
   */
  static preview(answer: string | { messages: object[] }): VersionGate;
  /** What rules can have as a condition besides, such as `channel`. The next question sends what is set. */
  attributes: App['attributes'];
  /** A language tag (`de-AT`), or null for none. The next question sends what is set. */
  language: App['language'];
  /** A country (`AT`), or null for none. The next question sends what is set. */
  region: App['region'];
  /**
   * The messages to show now, in their order. It takes at most two seconds, and never rejects. It asks the server if it
   * has not asked within 15 minutes, or if it is forced; else only a lockout that is kept is given again. Force it while
   * a lockout is shown. It is manual if the person asked, by a button "Check for updates": it is forced, and also gives
   * what hints hide and what a rollout still holds back.
   */
  check(options?: { force?: boolean; manual?: boolean }): Promise<Message[]>;
  /**
   * The headers for requests to the app's own API, from which a gateway there knows a client that is locked out. They say
   * what a check says, with the same install id. One that is not printable ASCII is left out. It takes at most a second,
   * and never rejects.
   */
  fields(): Promise<Record<string, string>>;
  /** Deletes the install id and all else that is kept. */
  forget(): Promise<void>;
}
