/**
 * Masks of credentials whose form a single expression could only search in quadratic time: texts are the bodies of clients and providers,
 * and the expressions run on the main thread.
 */

/** Words that may hold a JWT: three parts with dots between them. */
const dottedWord = /[A-Za-z0-9_-][A-Za-z0-9._-]{20,}/g;
/** The first part of a JWT: the base64url of `{"`. */
const firstPart = /\beyJ[A-Za-z0-9_-]{8,}$/;

/** Returns the text with each JWT replaced by `eyJ` and `masked`. */
export function maskJwts(text: string, masked: string): string {
  return text.includes('eyJ') ? text.replace(dottedWord, (word) => maskedWord(word, masked)) : text;
}

function maskedWord(word: string, masked: string): string {
  const parts = word.split('.');
  const shown: string[] = [];
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at] as string;
    const found = (parts[at + 1]?.length ?? 0) >= 8 ? firstPart.exec(part) : null;
    shown.push(found === null ? part : `${part.slice(0, found.index)}eyJ${masked}`);
    // The claims and the signature, which may be empty or absent.
    if (found !== null) at += 2;
  }
  return shown.join('.');
}

/** A password in a URL: `postgres://user:password@host`. Of the scheme one character is enough. */
const password = /([a-z0-9+.-]:\/\/[^\s:/@"]*):[^\s/@"]+@/gi;

/** Returns the text with each password in a URL replaced by `masked`. */
export function maskPasswords(text: string, masked: string): string {
  return text.includes('://') ? text.replace(password, `$1:${masked}@`) : text;
}
