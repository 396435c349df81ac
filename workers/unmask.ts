/** Characters that show nothing and can be put between others. */
const invisible =
  /[\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\uffa0]|[\ufe00-\ufe0f]|[\u{e0000}-\u{e01ef}]/u;

/** Matches all characters that are invisible or stand for ASCII. The scripts that it leaves out have no such characters. */
const doubtful = /[^\x00-\x7f\u00c0-\u0131\u0180-\u01c3\u0400-\u052f\u3041-\u3096\u30a1-\u30fa\u3400-\u9fff\uac00-\ud7a3]/gu;

export interface Unmasked {
  readonly text: string;
  /** Index in the original text of each character; null: the text is the original. One more entry holds the original length. */
  readonly at: Uint32Array | null;
}

/** Returns a text without invisible characters, and with plain letters and digits for their compatibility forms such as full-width ones. */
export function unmask(original: string): Unmasked {
  if (!/[^\x00-\xff]|\u00ad/.test(original)) return { text: original, at: null };
  const shown = new Map<string, string>();
  const changes: Change[] = [];
  const text = original.replace(doubtful, (character: string, start: number) => {
    const by = shown.get(character) ?? shownFor(character);
    shown.set(character, by);
    if (by !== character) changes.push({ start, end: start + character.length, length: by.length });
    return by;
  });
  return changes.length === 0 ? { text: original, at: null } : { text, at: indices(original, text.length, changes) };
}

/** A character of the original text and the length of the text for it. */
interface Change {
  readonly start: number;
  readonly end: number;
  readonly length: number;
}

function shownFor(character: string): string {
  if (invisible.test(character)) return '';
  const folded = character.normalize('NFKC');
  return /^[\x20-\x7e]+$/.test(folded) ? folded : character;
}

function indices(original: string, length: number, changes: readonly Change[]): Uint32Array {
  const at = new Uint32Array(length + 1);
  let index = 0;
  let written = 0;
  for (const change of changes) {
    while (index < change.start) at[written++] = index++;
    for (let i = 0; i < change.length; i++) at[written++] = change.start;
    index = change.end;
  }
  while (index <= original.length) at[written++] = index++;
  return at;
}

/** Returns the range of the original text that a range of the unmasked one stands for. */
export function originalRange({ at }: Unmasked, start: number, end: number): { start: number; end: number } {
  if (at === null) return { start, end };
  // Invisible characters behind the last one belong to it.
  return { start: at[start] as number, end: at[end] as number };
}
