import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { digitsOf, isLuhn, mod97 } from './checksums.ts';
import type { Detector } from './detector.ts';

/** Personal data that has a form of its own, most of it with check digits. */
export const numbers: readonly Detector[] = [
  {
    category: 'IBAN',
    pattern: /(?<![\p{L}\d])[A-Z]{2}\d{2}(?: ?[A-Z\d]{4}){2,7}(?: ?[A-Z\d]{1,3})?(?![\p{L}\d])/dgu,
    isValid: isIban,
    digits: 2,
  },
  { category: 'CREDIT_CARD', pattern: /(?<![\d.-])(?:\d[ -]?){12,18}\d(?![\d-])/dgu, isValid: isCard, digits: 13 },
  {
    category: 'EMAIL_ADDRESS',
    pattern: /(?<![\p{L}\d._%+-])[\p{L}\d_%+-][\p{L}\d._%+-]{0,63}@(?:[\p{L}\d-]{1,63}\.){1,8}\p{L}{2,24}(?![\p{L}\d])/dgu,
    // The form of addresses of repositories.
    isValid: (value) => !value.startsWith('git@'),
    mark: { pattern: /@[\p{L}\d-]{1,63}\./gu, before: 128, after: 1072 },
  },
  { category: 'CRYPTO_ADDRESS', pattern: /(?<![\p{L}\d])0x[\da-fA-F]{40}(?![\p{L}\d])/dgu, digits: 1 },
  { category: 'CRYPTO_ADDRESS', pattern: /(?<![\p{L}\d])bc1[02-9ac-hj-np-z]{11,71}(?![\p{L}\d])/dgu, digits: 1 },
  {
    category: 'CRYPTO_ADDRESS',
    pattern: /(?<![\p{L}\d])[13][1-9A-HJ-NP-Za-km-z]{25,34}(?![\p{L}\d])/dgu,
    isValid: isBase58Check,
    digits: 1,
  },
  {
    category: 'MAC_ADDRESS',
    pattern: /(?<![\p{L}\d:-])[\da-fA-F]{2}([:-])(?:[\da-fA-F]{2}\1){4}[\da-fA-F]{2}(?![\p{L}\d:-])/dgu,
  },
  {
    category: 'IP_ADDRESS',
    // Versions, sections of standards and OIDs have the same form.
    pattern: /(?<![\p{L}\d.§]|[Vv]ersion |[Ss]ection |oid:)\d{1,3}(?:\.\d{1,3}){3}(?![\p{L}\d]|\.\d)/dgu,
    isValid: (value) => isIP(value) === 4,
    digits: 4,
  },
  {
    category: 'IP_ADDRESS',
    pattern: /(?<![\p{L}\d:.])[\da-fA-F:]{2,39}(?![\p{L}\d:])/dgu,
    isValid: (value) => /\d/.test(value) && isIP(value) === 6,
    digits: 1,
    mark: { pattern: /:[\da-fA-F]{0,4}:/g, before: 40, after: 48 },
  },
  { category: 'SSN', pattern: /(?<![\d-])\d{3}([ -])\d{2}\1\d{4}(?![\d-])/dgu, isValid: isSsn, digits: 9 },
  { category: 'SSN', pattern: /(?:SSN|social security)\D{0,20}(?<value>\d{9})(?!\d)/dgiu, isValid: isSsn, digits: 9 },
  {
    category: 'PASSPORT_NUMBER',
    pattern:
      /(?:passports?|Reisepass|passeport|pasaporte|passaporto)[^\d\n]{0,24}?(?<value>(?<![\p{L}\d])(?:[A-Z]{0,2}\d{6,9}[A-Z]?|[A-Z][A-Z\d]{8}))(?![\p{L}\d])/dgiu,
    isValid: (value) => digitsOf(value).length >= 4,
    digits: 4,
  },
  {
    category: 'DATE_OF_BIRTH',
    pattern:
      /(?:\bborn\b|\bd\.?o\.?b\b|date of birth|birth ?date|birthday|geboren|Geburtsdatum|né le|née le|fecha de nacimiento|data di nascita)[^\d\n]{0,24}?(?<value>(?<!\d)\d{1,4}[./-]\d{1,2}[./-]\d{1,4}(?!\d)|\d{1,2}(?:st|nd|rd|th|\.)? \p{L}{3,9},? \d{4}|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\p{L}{0,6} \d{1,2}(?:st|nd|rd|th)?,? \d{4})(?!\d)/dgiu,
    digits: 3,
    mark: { pattern: /\d[./-]\d{1,2}[./-]\d|\d{4}/g, before: 96, after: 16 },
  },
];

/** Numbers of telephones: international ones, ones in groups, and plain ones after a word that names them. */
export const phoneNumbers: readonly Detector[] = [
  {
    category: 'PHONE_NUMBER',
    pattern: /(?<![\p{L}\d+]|\d[ -])(?:\+|00)[1-9]\d{0,2}(?:[ ()./-]{0,2}\d){6,13}(?!\d)/dgu,
    digits: 7,
  },
  {
    category: 'PHONE_NUMBER',
    pattern: /(?<![\p{L}\d.-])(?:1[ .-]?)?(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[ .-])[2-9]\d{2}[ .-]\d{4}(?![\d-])/dgu,
    digits: 10,
  },
  {
    category: 'PHONE_NUMBER',
    pattern: /(?<![\p{L}\d.-])\(?0[1-9]\d{0,4}\)?[ /-](?:\d[ -]?){5,9}\d(?!\d)/dgu,
    isValid: (value) => digitsOf(value).length >= 9,
    digits: 9,
  },
  {
    category: 'PHONE_NUMBER',
    pattern:
      /(?:\btel|phone|\bcall|\bmobile|\bcell|\bfax|whatsapp|\btext me|Telefon|Handy|téléphone|teléfono|telefono|móvil)[^\d\n]{0,20}?(?<value>(?<!\d)(?:\d[ ()./-]{0,2}){6,14}\d)(?!\d)/dgiu,
    digits: 7,
    mark: { pattern: /\d(?:[ ()./-]{0,2}\d){6}/g, before: 64, after: 48 },
  },
];

function isSsn(value: string): boolean {
  const digits = value.replace(/\D/g, '');
  const [area, group, serial] = [digits.slice(0, 3), digits.slice(3, 5), digits.slice(5)];
  return area !== '000' && area !== '666' && area < '900' && group !== '00' && serial !== '0000';
}

/** Beginnings of card numbers with the lengths that networks use. */
const cards =
  /^(?:4\d{12}(?:\d{3}){0,2}|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:6011|64[4-9]\d|65\d\d)\d{12}|35\d{14}|62\d{14,17})$/;

function isCard(value: string): boolean {
  return cards.test(value.replace(/\D/g, '')) && isLuhn(digitsOf(value));
}

/** Lengths of IBANs by country, as far as they differ from one another; the check digits decide for others. */
const ibanLengths: Readonly<Record<string, number>> = {
  ...{
    AT: 20,
    BE: 16,
    BG: 22,
    CH: 21,
    CZ: 24,
    DE: 22,
    DK: 18,
    EE: 20,
    ES: 24,
    FI: 18,
    FR: 27,
    GB: 22,
    GR: 27,
    HR: 21,
    HU: 28,
    IE: 22,
  },
  ...{
    IS: 26,
    IT: 27,
    LI: 21,
    LT: 20,
    LU: 20,
    LV: 21,
    MT: 31,
    NL: 18,
    NO: 15,
    PL: 28,
    PT: 25,
    RO: 24,
    SE: 24,
    SI: 19,
    SK: 24,
    TR: 26,
  },
};

function isIban(value: string): boolean {
  const compact = value.replaceAll(' ', '');
  const length = ibanLengths[compact.slice(0, 2)];
  return (length === undefined || compact.length === length) && mod97(compact.slice(4) + compact.slice(0, 4)) === 1;
}

const base58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

function isBase58Check(value: string): boolean {
  let number = 0n;
  for (const character of value) number = number * 58n + BigInt(base58.indexOf(character));
  const bytes = Buffer.from(number.toString(16).padStart(50, '0'), 'hex');
  if (bytes.length !== 25) return false;
  const sha256 = (data: Uint8Array) => createHash('sha256').update(data).digest();
  return sha256(sha256(bytes.subarray(0, 21)))
    .subarray(0, 4)
    .equals(bytes.subarray(21));
}
