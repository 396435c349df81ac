import { ownSecretPrefix, ownSecretShown } from '../credentials/own-secret.ts';

const masked = '***';

/**
 * The beginning of a word. In a line of JSON the escape of a line end may stand before it: `\nsk-…`. It is one negative lookbehind, because
 * V8 searches for the literal behind an alternative of assertions character by character: 1 MB would take six times as long.
 */
const wordStart = String.raw`(?<!(?<!\\)\w|\\[^\Wbfnrt])`;

/** Credentials by their form. The length avoids matches in ordinary sentences. */
const forms: readonly (readonly [RegExp, string])[] = (
  [
    [`(${ownSecretShown})[\\w-]{16,}`, 'g'],
    [`${wordStart}(Bearer\\s+)[A-Za-z0-9._~+/=-]{16,}`, 'gi'],
    [`${wordStart}(Basic\\s+)[A-Za-z0-9+/]{15,}={0,2}(?![A-Za-z0-9+/])`, 'g'],
    // The separator is the one of the provider, and keys of some have no hyphen inside: slugs such as `hf-production-europe` stay readable.
    [`${wordStart}((?:sk|pk)[-_]|glpat-|(?:rk|ek|gsk|r8|gh[oprsu]|hf|shpat|npm)_)[\\w-]{16,}`, 'g'],
    [`${wordStart}((?:xai|pplx)-)[A-Za-z0-9]{16,}`, 'g'],
    [`${wordStart}(auth_tokens/)[\\w-]{16,}`, 'g'],
    [`${wordStart}(github_pat_)\\w{20,}`, 'g'],
    [`${wordStart}(xox[abeprs]-)[A-Za-z0-9-]{10,}`, 'g'],
    [`${wordStart}(AIza)[\\w-]{16,}`, 'g'],
    [`${wordStart}(AKIA|ASIA)[A-Z0-9]{12,}`, 'g'],
    ['(-----BEGIN ([A-Z ]*PRIVATE KEY)-----)[\\s\\S]*?(?:-----END \\2-----|$)', 'g'],
  ] as const
).map(([form, flags]) => [new RegExp(form, flags), `$1${masked}`]);

/** Parts of `mayHold` that begin behind a hyphen or an underscore, so that the search passes over the letters of ordinary words. */
const separated = [
  `(?<=${ownSecretPrefix})[\\w-]{16}`,
  '(?<=(?:sk|pk)[-_]|glpat-|(?:rk|ek|gsk|r8|gh[oprsu]|hf|shpat|npm)_)[\\w-]{16}',
  '(?<=(?:xai|pplx)-)[A-Za-z0-9]{16}',
  '(?<=auth_)tokens/',
  '(?<=github_)pat_',
  '(?<=xox[abeprs]-)[A-Za-z0-9-]{10}',
];

/**
 * Finds the shortest credential of every form, a JWT, or a password in a URL, without regard to the beginning of a word. Texts without a match hold
 * nothing to mask. One search of 100 KB of source code takes a tenth of the time of one for each form, and of short texts less than a tenth.
 */
const mayHold = new RegExp(
  [
    `[-_](?:${separated.join('|')})`,
    'A(?:Iza[\\w-]{16}|[KS]IA[A-Z0-9]{12})',
    '[Bb][Ee][Aa][Rr][Ee][Rr]\\s+[A-Za-z0-9._~+/=-]{16}',
    'Basic\\s+[A-Za-z0-9+/]{15}',
    '-----BEGIN ',
    'J(?<=eyJ)[A-Za-z0-9_-]{8}',
    '://[^\\s:/@"]*:[^\\s/@"]+@',
  ].join('|'),
);

/** Returns a text with `***` for the secret part of everything that looks like a credential. It takes linear time. */
export function maskCredentials(text: string): string {
  // The shortest credential has more characters.
  if (text.length < 14 || !mayHold.test(text)) return text;
  let shown = text;
  for (const [form, instead] of forms) shown = shown.replace(form, instead);
  return maskPasswords(maskJwts(shown));
}

/** Words that may hold a JWT: three parts with dots between them. A single expression could only search in quadratic time. */
const dottedWord = /[A-Za-z0-9_-][A-Za-z0-9._-]{20,}/g;
/** The first part of a JWT: the base64url of `{"`. The rest of an escape may stand before it. */
const firstPart = /eyJ[A-Za-z0-9_-]{8,}$/;

/** Returns the text with each JWT replaced by `eyJ***`. */
function maskJwts(text: string): string {
  return text.includes('eyJ') ? text.replace(dottedWord, maskedWord) : text;
}

function maskedWord(word: string): string {
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

/** Returns the text with each password in a URL replaced by `***`. */
export function maskPasswords(text: string): string {
  return text.includes('://') ? text.replace(password, `$1:${masked}@`) : text;
}
