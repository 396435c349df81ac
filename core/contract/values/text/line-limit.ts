/** Maximum line ends of a stream that is read whole. Replies of 128,000 tokens have three lines for each, or six if CR and LF count alone. */
const linesMax = 1_000_000;

/**
 * Returns true if a stream has too many lines to be read whole. 32 MiB have room for 16 million frames without an event, each of which takes as long
 * as a short event: a gateway would be blocked for more than ten seconds.
 */
export function hasTooManyLines(stream: Uint8Array): boolean {
  if (stream.length <= linesMax) return false;
  let lines = 0;
  for (let at = 0; at < stream.length; at++) {
    const byte = stream[at];
    if ((byte === 0x0a || byte === 0x0d) && ++lines > linesMax) return true;
  }
  return false;
}
