import { accessSync, constants } from 'node:fs';
import { isIP } from 'node:net';
import * as v from 'valibot';
import { emailCharactersMax, emailPattern } from './email-pattern.ts';

/** Type of a setting: converts the text of the environment to a value, and describes the expected text for messages. */
export interface SettingType<Value> {
  readonly schema: v.GenericSchema<string, Value>;
  /** Completes the sentence "expected …". */
  readonly expected: string;
}

/** A whole number, digits only. `1e3`, `0x10` and `10s` are rejected, because they could be misread. */
export function wholeNumber(min: number, max: number, unit = ''): SettingType<number> {
  return {
    schema: v.pipe(v.string(), v.regex(/^\d{1,15}$/), v.transform(Number), v.minValue(min), v.maxValue(max)),
    expected: `a whole number${unit && ` of ${unit}`} from ${min} to ${max}`,
  };
}

/** A number from 0 to 1. */
export function share(): SettingType<number> {
  return {
    schema: v.pipe(v.string(), v.regex(/^(?:0(?:\.\d{1,9})?|1(?:\.0{1,9})?)$/), v.transform(Number)),
    expected: 'a number from 0 to 1',
  };
}

/** One of a few values, in any letter case. */
export function oneOf<const Names extends readonly string[]>(words: Names): SettingType<Names[number]> {
  return {
    schema: v.pipe(v.string(), v.toLowerCase(), v.picklist(words)) as v.GenericSchema<string, Names[number]>,
    expected: `one of ${words.join(', ')}`,
  };
}

/** Accepts `true`, `on`, `1` and `yes`, or `false`, `off`, `0` and `no`. */
export function flag(): SettingType<boolean> {
  const words: Record<string, boolean> = {
    true: true,
    on: true,
    '1': true,
    yes: true,
    false: false,
    off: false,
    '0': false,
    no: false,
  };
  return {
    schema: v.pipe(
      v.string(),
      v.toLowerCase(),
      v.check((word) => Object.hasOwn(words, word)),
      v.transform((word) => words[word] as boolean),
    ),
    expected: 'true or false',
  };
}

/** A text that matches a pattern completely. */
export function text(pattern: RegExp, expected: string): SettingType<string> {
  return { schema: v.pipe(v.string(), v.regex(pattern)), expected };
}

/** An e-mail address, as the control plane accepts it for users. */
export function emailAddress(): SettingType<string> {
  return {
    schema: v.pipe(v.string(), v.maxLength(emailCharactersMax), v.regex(emailPattern)),
    expected: 'an e-mail address such as gateway@example.com, without a name',
  };
}

/** Returns true if the text is an IP address, or a range in CIDR notation. */
export function isAddressOrRange(given: string): boolean {
  const [base = '', bits, ...more] = given.split('/');
  const version = isIP(base);
  if (version === 0 || base.includes('%') || more.length > 0) return false;
  return bits === undefined || (/^(0|[1-9]\d{0,2})$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

/** Comma-separated items. White space around them is ignored. */
export function listOf(item: SettingType<string>): SettingType<readonly string[]> {
  return {
    schema: v.pipe(
      v.string(),
      v.transform((all) => all.split(',').map((part) => part.trim())),
      v.array(item.schema),
    ),
    expected: `a comma-separated list, each item ${item.expected}`,
  };
}

/** An absolute URL with one of these schemes. Trailing slashes are removed. */
export function url(schemes: readonly string[], expected: string): SettingType<string> {
  return {
    schema: v.pipe(
      v.string(),
      v.check((given) => {
        const parsed = URL.parse(given);
        return parsed !== null && schemes.includes(parsed.protocol.slice(0, -1)) && parsed.host !== '';
      }),
      v.transform((given) => given.replace(/\/+$/, '')),
    ),
    expected,
  };
}

/**
 * The URL of a PostgreSQL database. If a password contains `/`, what follows is parsed as the path: its `@` shows that, because names of
 * databases have none.
 */
export function databaseUrl(): SettingType<string> {
  const { schema } = url(['postgres', 'postgresql'], '');
  return {
    schema: v.pipe(
      schema,
      v.check((given) => !/[@/]/.test(URL.parse(given)?.pathname.slice(1) ?? '')),
    ),
    expected:
      'a URL with one host such as postgresql://user:password@host:5432/name, with %2F for /, %40 for @ and %23 for # in the password',
  };
}

/** A URL without query and fragment, which would have no effect. */
export function plainUrl(schemes: readonly string[], expected: string): SettingType<string> {
  const { schema } = url(schemes, '');
  return {
    schema: v.pipe(
      schema,
      v.check((given) => !/[?#]/.test(given)),
    ),
    expected: `${expected}, without query and fragment`,
  };
}

/** An HTTP URL to which paths are appended, so it has no query and no fragment. Credentials in it would not be sent. */
export function baseUrl(example: string): SettingType<string> {
  const { schema } = plainUrl(['http', 'https'], '');
  return {
    schema: v.pipe(
      schema,
      v.check((given) => URL.parse(given)?.username === ''),
    ),
    expected: `a URL such as ${example}, without user, query and fragment`,
  };
}

/** An IP address or a host name, without a port. */
export function hostName(): SettingType<string> {
  return {
    schema: v.pipe(
      v.string(),
      // A name that ends in a number is an address to URLs, which are derived from this setting, so it has to be a valid one.
      v.check((given) => isIP(given) !== 0 || (/^[A-Za-z0-9._-]+$/.test(given) && URL.canParse(`http://${given}`))),
    ),
    expected: 'an IP address or a host name, without a port',
  };
}

const natsParameters = ['sslrootcert', 'sslcert', 'sslkey'];

/**
 * One server of NATS, or several separated by commas. The client uses scheme, user and parameters of the first URL for all of them, so the others
 * may repeat them, but not differ.
 */
export function natsUrls(): SettingType<string> {
  const one = url(['nats', 'tls'], '').schema;
  return {
    schema: v.pipe(
      v.string(),
      v.transform((given) => given.split(',').map((part) => part.trim())),
      v.array(one),
      v.check((parts) => {
        const [first, ...others] = parts.map((part) => new URL(part));
        if (first === undefined) return false;
        // The client would compare the certificate of an address with the name "localhost".
        if (first.protocol === 'tls:' && [first, ...others].some(({ hostname }) => isIP(hostname.replaceAll(/[[\]]/g, '')) !== 0))
          return false;
        const known = first.protocol === 'tls:' ? natsParameters : [];
        if ([...first.searchParams.keys()].some((name) => !known.includes(name))) return false;
        const userOf = ({ username, password }: URL) => `${username}:${password}`;
        return others.every(
          (other) =>
            other.protocol === first.protocol &&
            [':', userOf(first)].includes(userOf(other)) &&
            ['', first.search].includes(other.search),
        );
      }),
      v.transform((parts) => parts.join(',')),
    ),
    expected:
      'a URL such as nats://host:4222 or tls://host:4222, or several of one scheme and user with commas between; ' +
      `tls needs host names instead of addresses, and its parameters are ${natsParameters.join(', ')}`,
  };
}

/** `s3://bucket/prefix` or `file:///directory`. Without a query, which would be ignored. */
export function objectStoreUrl(): SettingType<string> {
  return text(
    /^(?:s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:\/[A-Za-z0-9._-]+)*|file:\/\/\/[^?#]*[^?#/])$/,
    's3://bucket/prefix or file:///directory',
  );
}

/** 32 bytes as base64 (with or without padding) or base64url. Other lengths are rejected. */
export function key32(): SettingType<Uint8Array> {
  return {
    schema: v.pipe(
      v.string(),
      v.regex(/^[A-Za-z0-9+/_-]{43}=?$/),
      v.transform((given): Uint8Array => new Uint8Array(Buffer.from(given, 'base64'))),
      v.check((bytes) => bytes.length === 32),
    ),
    expected: '32 random bytes in base64 (generate them with `openssl rand -base64 32`)',
  };
}

/** The path of a file that this process can read. */
export function readableFile(what: string): SettingType<string> {
  return {
    schema: v.pipe(
      v.string(),
      v.check((path) => {
        try {
          accessSync(path, constants.R_OK);
          return true;
        } catch {
          return false;
        }
      }),
    ),
    expected: `the path of a readable ${what}`,
  };
}
