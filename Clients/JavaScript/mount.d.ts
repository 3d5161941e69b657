import type { Message, VersionGate } from './versiongate.js';

export type TextName =
  'update' | 'open' | 'later' | 'skip' | 'close' | 'tryAgain' | 'updateRequired' | 'maintenance';

export interface MountOptions {
  /** Of the buttons: a language tag. Unless given, that of the gate, or of the browser. */
  language?: string;
  /** Texts in place of those of the language. */
  texts?: Partial<Record<TextName, string>>;
  /** Is called with the lockout before the page is covered, and with null when the lockout has ended. */
  onLockout?: (message: Message | null) => void;
}

export interface Screens {
  /** Asks now, as `VersionGate.check` does, and shows the messages, which it returns. During a lockout it is forced. */
  check(options?: { force?: boolean; manual?: boolean }): Promise<Message[]>;
  /** Takes everything away, a lockout too, and asks no more. */
  unmount(): void;
}

/**
 * Asks the gate now and whenever the page comes to the foreground, shows messages one after the other, and covers the page
 * while it is locked out. Throws a TypeError if the options are wrong, and an Error if the page has a mounted gate already.
 */
export function mount(gate: VersionGate, options?: MountOptions): Screens;
