/** Kinds of personal data that the task `find-pii` finds. `workers/pii/README.md` states what each of them covers. */
export const piiCategories = [
  'EMAIL_ADDRESS',
  'PHONE_NUMBER',
  'LOCATION_ADDRESS',
  'NAME',
  'IP_ADDRESS',
  'CREDIT_CARD',
  'SSN',
  'IBAN',
  'NATIONAL_ID',
  'PASSPORT_NUMBER',
  'DATE_OF_BIRTH',
  'MAC_ADDRESS',
  'CRYPTO_ADDRESS',
] as const;
export type PiiCategory = (typeof piiCategories)[number];
