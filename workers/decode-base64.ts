export interface Decoded {
  readonly text: string;
  /** The run of base64 in the original text. */
  readonly start: number;
  readonly end: number;
}

const encodedCharsMax = 64 * 1024;

/** Runs of base64 whose first byte can begin a readable text. The first character has six of its eight bits. */
const runs = /[CDI-Za-fw-z0-7](?<![\w+/-].)[A-Za-z0-9+/_-]{11,}={0,2}/g;

/** Returns the readable texts that base64 runs of a text hold. */
export function decodeBase64(text: string): Decoded[] {
  const found: Decoded[] = [];
  const searched = text.slice(0, encodedCharsMax);
  // `matchAll` would compile a copy of the pattern, which takes longer than the search of a short text.
  runs.lastIndex = 0;
  for (let run = runs.exec(searched); run; run = runs.exec(searched)) {
    const decoded = Buffer.from(run[0], /[-_]/.test(run[0]) ? 'base64url' : 'base64').toString('utf8');
    if (/^[\t\n\r\x20-\x7e\u00a0-\ud7ff]+$/.test(decoded)) {
      found.push({ text: decoded, start: run.index, end: runs.lastIndex });
    }
  }
  return found;
}
