/** Replaces a line that was too long to read. */
export const lineTooLong = Symbol('line too long');

/**
 * Lines of UTF-8 text without their ends, never more of it in memory than a line and a chunk. A line of more than `charactersMax`
 * is `lineTooLong`, and the last one.
 */
export async function* textLines(
  source: AsyncIterable<Uint8Array>,
  charactersMax: number,
): AsyncGenerator<string | typeof lineTooLong> {
  const decoder = new TextDecoder();
  // In parts, so that a long line is put together once and not with every chunk.
  let parts: string[] = [];
  let length = 0;
  for await (const chunk of source) {
    const [head, ...lines] = decoder.decode(chunk, { stream: true }).split('\n') as [string, ...string[]];
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
  const rest = parts.join('') + decoder.decode();
  if (rest !== '') yield rest;
}
