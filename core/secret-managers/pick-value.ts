import type { MappedSecretDocument } from '../contract/protocol/credentials/secret-reference.ts';
import { parseObject } from '../contract/values/json/json.ts';
import { refused } from './secret-error.ts';
import type { SecretContent } from './secret-reader.ts';

/** Maximum length of a value. It is sufficient for the key file of a service account. */
const valueCharactersMax = 16_384;

/**
 * Returns the one value of a mapping as text, without the line break at its end that editors and shells add. Throws SecretError
 * naming the missing part.
 */
export function pickValue(content: SecretContent, { key }: Pick<MappedSecretDocument, 'key'>): string {
  const text = content.text.reveal();
  const value = content.kind === 'text' && key === null ? text : textOf(valueIn(text, key));
  const whole = value.replace(/\r?\n$/, '');
  if (whole === '') throw refused('the value is empty');
  if (whole.length > valueCharactersMax) throw refused(`the value is longer than ${valueCharactersMax} characters`);
  return whole;
}

/** Converts the value for a plain setting. Throws SecretError. */
export function pickSetting(content: SecretContent, mapped: MappedSecretDocument): unknown {
  const text = pickValue(content, mapped);
  if (mapped.format === 'string') return text;
  try {
    return JSON.parse(text);
  } catch {
    throw refused('value_format is json, but the value is not JSON');
  }
}

function valueIn(text: string, key: string | null): unknown {
  const fields = parseObject(text);
  if (fields === null) throw refused(`secret_key is "${key}", but the secret is not a JSON object`);
  if (key !== null) {
    if (Object.hasOwn(fields, key)) return fields[key];
    throw refused(`the secret has no value "${key}"`);
  }
  const [only, ...more] = Object.values(fields);
  if (more.length > 0) throw refused('the secret has several values. Set secret_key to select one');
  return only;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
