import querystring from 'node:querystring';

/** Returns a percent-encoded text decoded; the text itself if its escapes are not valid UTF-8. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns a percent-encoded text decoded. Bytes that are not UTF-8 become U+FFFD, so that they do not hide the text beside them. */
export function percentDecodedAnyway(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // `querystring` decodes such a text byte by byte, and takes each character as one byte.
    return querystring.unescape(Buffer.from(text).toString('latin1'));
  }
}
