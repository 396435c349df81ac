import { digitsOf, isLuhn, isMod11And10, isVerhoeff, mod97, weighted } from './checksums.ts';
import type { Detector } from './detector.ts';

const id = (pattern: RegExp, isValid: (value: string) => boolean): Detector => ({
  category: 'NATIONAL_ID',
  pattern,
  isValid,
  digits: 4,
});

/** National identification numbers, each with its check digits. Plain runs of digits count only after a word that names the number. */
export const nationalIds: readonly Detector[] = [
  // United Kingdom: National Insurance number, NHS number.
  id(
    /(?<![\p{L}\d])(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D](?![\p{L}\d])/dgu,
    () => true,
  ),
  id(/\bNHS\b\D{0,20}(?<value>\d{3}[ -]?\d{3}[ -]?\d{4})(?!\d)/dgu, isNhsNumber),
  // Canada: Social Insurance number.
  id(/(?<![\d-])\d{3}-\d{3}-\d{3}(?![\d-])/dgu, (value) => isLuhn(digitsOf(value))),
  id(/(?:\bSIN\b|social insurance)\D{0,20}(?<value>\d{3} ?\d{3} ?\d{3})(?!\d)/dgu, (value) => isLuhn(digitsOf(value))),
  // India: Aadhaar, PAN.
  id(/(?<![\d-])[2-9]\d{3}[ -]\d{4}[ -]\d{4}(?![ -]?\d)/dgu, (value) => isVerhoeff(digitsOf(value))),
  id(/(?<![\p{L}\d])[A-Z]{3}[ABCFGHLJPT][A-Z]\d{4}[A-Z](?![\p{L}\d])/dgu, () => true),
  // Brazil: CPF.
  id(/(?<!\d)\d{3}\.\d{3}\.\d{3}-\d{2}(?!\d)/dgu, isCpf),
  // Spain: DNI and NIE. Italy: codice fiscale. France: NIR.
  id(/(?<![\p{L}\d])[XYZ\d]\d{7}-?[A-Z](?![\p{L}\d])/dgu, isDni),
  id(/(?<![\p{L}\d])[A-Z]{6}\d{2}[A-EHLMPR-T]\d{2}[A-Z]\d{3}[A-Z](?![\p{L}\d])/dgu, isFiscalCode),
  id(/(?<!\d)[12] ?\d{2} ?(?:0[1-9]|1[0-2]) ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}(?!\d)/dgu, isNir),
  // Germany: tax identification number. The Netherlands: BSN. Poland: PESEL. Sweden: personal number. Australia: tax file number.
  id(
    /(?:Steuer-?(?:ID|Identifikationsnummer|nummer)|IdNr|tax id)\D{0,20}(?<value>\d{2} ?\d{3} ?\d{3} ?\d{3})(?!\d)/dgiu,
    (value) => isMod11And10(digitsOf(value)),
  ),
  id(/(?:BSN|burgerservicenummer)\D{0,20}(?<value>\d{9})(?!\d)/dgiu, isBsn),
  id(/PESEL\D{0,20}(?<value>\d{11})(?!\d)/dgiu, isPesel),
  id(/(?<!\d)(?:19|20)?\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])[-+]\d{4}(?!\d)/dgu, (value) =>
    isLuhn(digitsOf(value).slice(-10)),
  ),
  id(
    /(?:TFN|tax file number)\D{0,20}(?<value>\d{3} ?\d{3} ?\d{3})(?!\d)/dgiu,
    (value) => weighted(digitsOf(value), [1, 4, 3, 7, 5, 8, 6, 9, 10]) % 11 === 0,
  ),
];

function isNhsNumber(value: string): boolean {
  const digits = digitsOf(value);
  const check = (11 - (weighted(digits, [10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11)) % 11;
  return check === digits[9];
}

function isCpf(value: string): boolean {
  const digits = digitsOf(value);
  if (new Set(digits).size === 1) return false;
  const checkOf = (length: number) =>
    ((digits.slice(0, length).reduce((sum, digit, i) => sum + digit * (length + 1 - i), 0) * 10) % 11) % 10;
  return checkOf(9) === digits[9] && checkOf(10) === digits[10];
}

function isDni(value: string): boolean {
  const number = Number(value.slice(0, 8).replace('X', '0').replace('Y', '1').replace('Z', '2'));
  return 'TRWAGMYFPDXBNJZSQVHLCKE'[number % 23] === value.at(-1);
}

/** Values of the characters at odd places, from 0 to 9 and A to Z. */
const oddValues = [
  1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23,
];

function isFiscalCode(value: string): boolean {
  let sum = 0;
  for (let i = 0; i < 15; i++) {
    const code = Number.parseInt(value[i] as string, 36);
    sum += i % 2 === 0 ? (oddValues[code] as number) : code > 9 ? code - 10 : code;
  }
  return String.fromCharCode(65 + (sum % 26)) === value[15];
}

function isNir(value: string): boolean {
  const compact = value.replaceAll(' ', '').replace('2A', '19').replace('2B', '18');
  return 97 - mod97(compact.slice(0, 13)) === Number(compact.slice(13));
}

function isBsn(value: string): boolean {
  return weighted(digitsOf(value), [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0;
}

function isPesel(value: string): boolean {
  return weighted(digitsOf(value), [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]) % 10 === 0;
}
