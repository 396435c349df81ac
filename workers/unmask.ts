/** Characters that show nothing and can be put between others. */
const invisible =
  /[\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\uffa0]|[\ufe00-\ufe0f]|[\u{e0000}-\u{e01ef}]/u;

export interface Unmasked {
  readonly text: string;
  /** Index in the original text of each character; null: the text is the original. One more entry holds the original length. */
  readonly at: readonly number[] | null;
}

/** Returns a text without invisible characters, and with plain letters and digits for their compatibility forms such as full-width ones. */
export function unmask(original: string): Unmasked {
  if (!/[^\x00-\xff]|\u00ad/.test(original)) return { text: original, at: null };
  let text = '';
  const at: number[] = [];
  let index = 0;
  for (const character of original) {
    if (!invisible.test(character)) {
      const folded = character.normalize('NFKC');
      const shown = /^[\x20-\x7e]+$/.test(folded) ? folded : character;
      text += shown;
      for (let i = 0; i < shown.length; i++) at.push(index + (shown === character ? i : 0));
    }
    index += character.length;
  }
  at.push(original.length);
  return { text, at };
}

/** Returns the range of the original text that a range of the unmasked one stands for. */
export function originalRange({ at }: Unmasked, start: number, end: number): { start: number; end: number } {
  if (at === null) return { start, end };
  // Invisible characters behind the last one belong to it.
  return { start: at[start] as number, end: at[end] as number };
}
