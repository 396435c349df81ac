import { Utf8Stream } from './utf8-stream.ts';

/** Yielded in place of a line that is too long. */
export const lineTooLong = Symbol('line too long');

/**
 * Yields lines of UTF-8 text without their ends. Holds at most one line and one chunk in memory. A line of more than
 * `charactersMax` yields `lineTooLong` and ends the iteration.
 */
export async function* textLines(
  source: AsyncIterable<Uint8Array>,
  charactersMax: number,
): AsyncGenerator<string | typeof lineTooLong> {
  const decoder = new Utf8Stream();
  // The parts of a line are joined once at its end, not with every chunk.
  let parts: string[] = [];
  let length = 0;
  for await (const chunk of source) {
    const [head, ...lines] = decoder.push(chunk).split('\n') as [string, ...string[]];
    parts.push(head);
    length += head.length;
    for (const next of lines) {
      if (length > charactersMax) break;
      yield parts.join('');
      parts = [next];
      length = next.length;
    }
    if (length > charactersMax) {
      yield lineTooLong;
      return;
    }
  }
  const rest = parts.join('') + decoder.end();
  if (rest !== '') yield rest;
}
