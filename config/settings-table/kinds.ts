import * as v from 'valibot';
import { hostName, type SettingType, wholeNumber } from '../setting-types.ts';

/** One environment variable. Rows are the single source of parsing, of the type `Settings`, of `--help` and of docs/settings.md. */
export interface Setting<Value> {
  readonly name: string;
  /** The default as a user would type it. Null: unset; the value is then null, an empty list, or what `loadSettings` derives. */
  readonly default: string | null;
  /** Text that tables show if the default is not a fixed value. */
  readonly defaultShown?: string;
  readonly meaning: string;
  /** True if the value may hold a credential: no message repeats it. */
  readonly secret?: true;
  readonly type: SettingType<NonNullable<Value>>;
}

type More = Pick<Setting<unknown>, 'secret'>;

/** A setting with a fixed default. */
export function row<Value>(name: string, fallback: string, meaning: string, type: SettingType<Value & {}>): Setting<Value> {
  return { name, default: fallback, meaning, type } as Setting<Value>;
}

/** A setting that is null if it is unset. */
export function optional<Value>(name: string, meaning: string, type: SettingType<Value>, more: More = {}): Setting<Value | null> {
  return { name, default: null, meaning, type, ...more } as Setting<Value | null>;
}

/** A comma list that is empty if it is unset. */
export function list(name: string, meaning: string, type: SettingType<readonly string[]>): Setting<readonly string[]> {
  return { name, default: null, meaning, type };
}

/** A setting whose default `loadSettings` derives; `shown` describes it. */
export function derived<Value>(
  name: string,
  shown: string,
  meaning: string,
  type: SettingType<Value & {}>,
  more: More = {},
): Setting<Value> {
  return { name, default: null, defaultShown: shown, meaning, type, ...more } as Setting<Value>;
}

export const host = hostName();
export const port = wholeNumber(1, 65_535);
export const milliseconds = wholeNumber(0, 86_400_000, 'milliseconds');
/** Per process or tenant; 0 means no limit if the text of the setting states it. */
export const count = wholeNumber(0, 1_000_000);

export function bytes(min: number, max: number): SettingType<number> {
  return wholeNumber(min, max, 'bytes');
}

/** Accepts any spelling. The value is in lower case. */
export function lowerCase(type: SettingType<string>): SettingType<string> {
  return { ...type, schema: v.pipe(type.schema, v.toLowerCase()) };
}
