export interface Decoded {
  readonly text: string;
  /** The run of base64 in the original text. */
  readonly start: number;
  readonly end: number;
}

const encodedCharsMax = 64 * 1024;

/** Returns the readable texts that base64 runs of a text hold. */
export function decodeBase64(text: string): Decoded[] {
  const found: Decoded[] = [];
  for (const run of text.slice(0, encodedCharsMax).matchAll(/[A-Za-z0-9+/_-]{12,}={0,2}/g)) {
    const decoded = Buffer.from(run[0], /[-_]/.test(run[0]) ? 'base64url' : 'base64').toString('utf8');
    if (/^[\t\n\r\x20-\x7e\u00a0-\ud7ff]+$/.test(decoded)) {
      found.push({ text: decoded, start: run.index, end: run.index + run[0].length });
    }
  }
  return found;
}
