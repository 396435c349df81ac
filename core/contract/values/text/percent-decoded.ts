/** Returns a percent-encoded text decoded; the text itself if its escapes are not valid UTF-8. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
