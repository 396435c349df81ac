/** A form of secrets. Every quantifier is bounded; a group `value` is the secret if the pattern also matches the words before it. */
export interface SecretPattern {
  readonly kind: string;
  /** Has the flags `d` and `g`. */
  readonly pattern: RegExp;
  readonly isValid?: (value: string) => boolean;
}

/** A name in code with at most one number, such as `oauth2Client`. Random values have several. */
const codeName = '[a-z_$]{1,60}(?:[0-9]{1,4}[a-z_$]{0,60})?';
/** Matches the call of a function, such as `oauth2.getToken(`. */
const call = String.raw`(?:${codeName}\.){0,5}${codeName}\(`;

/** Forms that the preset of secretlint does not have, or finds only with a further condition. */
export const secretPatterns: readonly SecretPattern[] = [
  { kind: 'AWS_ACCESS_KEY', pattern: /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z2-7]{16}(?![A-Za-z0-9])/dg },
  {
    kind: 'AWS_SECRET_KEY',
    pattern: /aws_?secret_?(?:access_?)?key["']?\s{0,5}[:=]\s{0,5}["']?(?<value>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])/dgi,
  },
  { kind: 'GOOGLE_API_KEY', pattern: /(?<![A-Za-z0-9_-])AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/dg },
  { kind: 'STRIPE_KEY', pattern: /(?<![A-Za-z0-9])(?:sk|rk)_live_[A-Za-z0-9]{16,128}/dg },
  {
    kind: 'JSON_WEB_TOKEN',
    pattern: /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,1000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{16,1000}/dg,
  },
  {
    kind: 'PRIVATE_KEY',
    pattern:
      /-----BEGIN (?:[A-Z]{2,10} ){0,2}PRIVATE KEY-----[A-Za-z0-9+/=\s\\]{0,8000}(?:-----END (?:[A-Z]{2,10} ){0,2}PRIVATE KEY-----)?/dg,
  },
  { kind: 'OPENAI_API_KEY', pattern: /(?<![A-Za-z0-9])sk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,200}/dg, isValid: isRandom },
  { kind: 'GATEWAY_KEY', pattern: /(?<![A-Za-z0-9])svc_(?:ws|org|user|admin)_[A-Za-z0-9]{8,64}_[A-Za-z0-9]{16,128}/dg },
  {
    kind: 'PASSWORD_OR_TOKEN',
    pattern: new RegExp(
      String.raw`(?:password|passwd|pwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|client[_-]?secret|credentials?)["']?\s{0,3}(?:[:=]|=>|\bis\b)\s{0,3}(?:["'\x60]|(?!${call}))(?<value>[^\s"'\x60,;<>{}()[\]]{8,200})`,
      'dgi',
    ),
    isValid: isRandom,
  },
];

/** Returns true for text that looks drawn at random: letters and digits with high entropy, and no placeholder. */
function isRandom(value: string): boolean {
  if (!/[A-Za-z]/.test(value) || !/\d/.test(value) || /^(?:\$|%|process\.|os\.|env\.)|x{4}|\*{3}|\.{3}/i.test(value))
    return false;
  return entropyOf(value) >= 3;
}

/** Shannon entropy in bits per character. */
function entropyOf(value: string): number {
  const counts = new Map<string, number>();
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1);
  let entropy = 0;
  for (const count of counts.values()) entropy -= (count / value.length) * Math.log2(count / value.length);
  return entropy;
}
