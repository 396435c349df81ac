import { storableText } from '../../contract/values/json/storable-json.ts';

/** Values and attributes of OTLP in its JSON form: 64-bit integers are texts. */
export type AnyValue =
  | { readonly stringValue: string }
  | { readonly boolValue: boolean }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly arrayValue: { readonly values: readonly AnyValue[] } };

export interface KeyValue {
  readonly key: string;
  readonly value: AnyValue;
}

/** Whole numbers become integers. Give `{ doubleValue }` for a number that is a double even if it is whole. */
type AttributeValue = string | number | boolean | readonly string[] | AnyValue | null | undefined;

/** Returns the attributes that have a value. Collectors may reject a batch because of half a surrogate pair, which is not valid in protobuf. */
export function attributesOf(values: Readonly<Record<string, AttributeValue>>): KeyValue[] {
  const attributes: KeyValue[] = [];
  for (const key in values) {
    const value = values[key];
    if (value !== null && value !== undefined) attributes.push({ key, value: toAnyValue(value) });
  }
  return attributes;
}

function toAnyValue(value: NonNullable<AttributeValue>): AnyValue {
  if (typeof value === 'string') return { stringValue: storableText(value) };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: value.map((item: string) => ({ stringValue: storableText(item) })) } };
  return value as AnyValue;
}

/** Returns Unix nanoseconds as OTLP's JSON form writes them. `ms` may have a fraction; it is rounded to microseconds. */
export function unixNano(ms: number): string {
  return `${Math.round(ms * 1000)}000`;
}
