import * as v from 'valibot';
import type { ErrorFields, ProviderAdapter, ProviderSettings } from '../contract/provider/provider.ts';
import type { ProviderPrices } from './provider-prices.ts';
import { sharedAuth, sharedSettings } from './shared-settings.ts';

/**
 * Everything the product needs about a provider except its adapter. `core/providers/<name>/settings.ts` exports one of these. The
 * config language, headers, admin validation, masking, host checks, diagnosis, prices and documents are derived from it.
 */
export interface ProviderDeclaration {
  readonly id: string;
  /** Name for readers, such as `Azure OpenAI`. */
  readonly title: string;
  /** Other spellings of the id that clients send. */
  readonly aliases: readonly string[];
  /** Name of the provider in the semantic conventions of OpenTelemetry. Absent: its id. */
  readonly telemetryName?: string;
  /** Id of the provider in the public price list. */
  readonly priceId: string;
  /** Returns the name of a model in that list, without marks of region, tuning or size. Absent: the names are the same. */
  readonly priceName?: (model: string) => string;
  /** Prices of the provider that the list does not state. Absent: none. */
  readonly prices?: ProviderPrices;
  /** Models that the public price list does not have. Absent: all are in the list. */
  readonly unlistedModels?: readonly string[];
  /** `required`: all calls need a key. `optional`: no call needs one, or only some authentication modes do. */
  readonly key: 'required' | 'optional';
  /** By config name. The header of a setting is its name with `-` for `_` after the gateway's header prefix. */
  readonly settings: Readonly<Record<string, SettingDeclaration>>;
  readonly auth: readonly AuthModes[];
  /** Settings that an integration requires. */
  readonly requires: readonly Requirement[];
  /** Loads the adapter. Only the gateway does. */
  load(): Promise<ProviderModule>;
}

/** Exports of `index.ts` in a provider's folder: the adapters of all declarations that load it. */
interface ProviderModule {
  readonly adapters: readonly ProviderAdapter[];
}

export interface SettingDeclaration {
  /** `table` and `json` are structured, the others are scalars. */
  readonly kind: 'text' | 'url' | 'bucket' | 'choice' | 'flag' | 'number' | 'json' | 'table';
  /** Schema of a value that is present. Header values are texts, so flags and numbers accept texts too. */
  readonly schema: v.GenericSchema;
  /** A sentence for documents and the OpenAPI description. */
  readonly about: string;
  /** A valid value. Never a usable credential. */
  readonly example: unknown;
  /** Sealed at rest, masked in replies, `Secret` in memory. */
  readonly secret?: true;
  /** A credential whose value becomes part of a header, so that it has only the characters of one. */
  readonly header?: true;
  /**
   * The only source of its value. Absent: integrations, config targets and request headers. `call`: config targets and request
   * headers, because the value belongs to one call, such as the name of an upload.
   */
  readonly only?: 'integration' | 'config' | 'call';
  /** Decides which host is called: the value is its URL, or becomes part of its name. */
  readonly host?: 'url' | 'part';
  /** The URL may have a query. */
  readonly query?: true;
  /** A request or config may use it to send calls of a stored provider to another host of the same owner. */
  readonly moves?: true;
  /** Requests and configs cannot replace the value of a stored provider: never, or if the provider stores one. */
  readonly pinned?: 'always' | 'once-stored';
  /** Selects the model beside its name, so it is fixed if the integration restricts its models. */
  readonly choosesModel?: true;
  /** The names that a stored value gives to models. */
  readonly aliases?: (value: unknown) => ModelAlias[];
  /** If the value is true, calls on provisioned capacity have no price. */
  readonly skipsProvisioned?: true;
  /** Older name in the bodies of clients, besides the camel-case form of this one. */
  readonly olderName?: string;
  /** Older names of the columns of a table. */
  readonly olderColumns?: OlderColumns;
  /** Stored without effect, for clients that send it. Replies list it as unused. */
  readonly unused?: true;
  /** Requests may set it even if inline providers are blocked, because it selects a behaviour of the same account. */
  readonly inline?: true;
}

/** Columns of a table by the names that older clients use. */
export interface OlderColumns {
  /** Older name to name. */
  readonly names: Readonly<Record<string, string>>;
  /** The older name of the column that stands for a table of one row if it is sent without a table. */
  readonly key: string;
  /** Columns that have the value of the key if a row lacks them. */
  readonly sameAsKey: readonly string[];
}

/** A name of a model, such as a deployment, and the model behind it. */
export interface ModelAlias {
  readonly alias: string;
  readonly model: string;
}

/** A setting that selects how calls authenticate. */
export interface AuthModes {
  readonly setting: string;
  /** An integration must choose a mode. */
  readonly required?: true;
  readonly modes: Readonly<Record<string, AuthMode>>;
  /** Default modes of inline credentials: the first one whose setting is present, or that needs none (null). */
  readonly usual?: readonly (readonly [mode: string, ifPresent: string | null])[];
}

interface AuthMode {
  /** Settings it needs; `api_key` is the integration's `key`. */
  readonly needs?: readonly string[];
  readonly refuses?: readonly string[];
  /** Field that an error of the provider about credentials is attributed to; default `key`. */
  readonly credential?: string;
  /** Exchanges the token of a workload for one of the provider: workload identity federation. */
  readonly federates?: true;
}

export interface Requirement {
  readonly needs: readonly string[];
  /** Only if this setting is present. Not together with `unless`. */
  readonly when?: string;
  /** Not if this setting is present. */
  readonly unless?: string;
}

/**
 * A declaration as written by its author: fields with a default may be left out, and settings that all providers have are added.
 */
export type ProviderInput = Pick<ProviderDeclaration, 'id' | 'load'> & Partial<Omit<ProviderDeclaration, 'id' | 'load'>>;

/** True if integrations store the setting. */
export function isStored({ only }: SettingDeclaration): boolean {
  return only === undefined || only === 'integration';
}

/** True if config targets and request headers can carry the setting. */
export function isCarried({ only }: SettingDeclaration): boolean {
  return only === undefined || only === 'call';
}

/** Completes a declaration. */
export function defineProvider(input: ProviderInput): ProviderDeclaration {
  return {
    title: titleOf(input.id),
    aliases: [],
    priceId: input.id,
    key: 'required',
    requires: [],
    ...input,
    settings: { ...sharedSettings, ...input.settings },
    auth: [...(input.auth ?? []), ...(input.auth?.some(({ setting }) => setting === sharedAuth.setting) ? [] : [sharedAuth])],
  };
}

/** `mistral-ai` as `Mistral AI`. */
function titleOf(id: string): string {
  const words = id.split('-').map((word) => (word === 'ai' ? 'AI' : `${word.charAt(0).toUpperCase()}${word.slice(1)}`));
  return words.join(' ');
}

/**
 * Returns the schema of an adapter's settings: each setting that is not secret, checked if present. Drops settings that the
 * provider does not declare and those that are null. The pipeline checks `custom_host` itself.
 */
export function settingsSchema({ settings }: Pick<ProviderDeclaration, 'settings'>): v.GenericSchema<unknown, ProviderSettings> {
  const entries: v.ObjectEntries = {};
  for (const [name, { schema, secret }] of Object.entries(settings)) {
    if (!secret) entries[name] = v.nullish(name === 'custom_host' ? v.string() : schema);
  }
  return v.pipe(v.object(entries), v.transform(withoutNulls)) as unknown as v.GenericSchema<unknown, ProviderSettings>;
}

/** Returns the members of an adapter that follow from its declaration. */
export function declared(
  declaration: ProviderDeclaration,
): Pick<
  ProviderAdapter,
  'id' | 'settings' | 'headerSecrets' | 'pinned' | 'pinnedOnceStored' | 'movedBy' | 'modelSettings' | 'errorFields'
> {
  const names = (has: (setting: SettingDeclaration) => boolean): string[] =>
    Object.entries(declaration.settings).flatMap(([name, setting]) => (has(setting) ? [name] : []));
  return {
    id: declaration.id,
    settings: settingsSchema(declaration),
    headerSecrets: names(({ header }) => header === true),
    pinned: names(({ pinned }) => pinned === 'always'),
    pinnedOnceStored: names(({ pinned }) => pinned === 'once-stored'),
    movedBy: names(({ moves }) => moves === true),
    modelSettings: names(({ choosesModel }) => choosesModel === true),
    errorFields: errorFieldsOf(declaration),
  };
}

/** An authentication mode sets the credential field. The first present setting that sets the host counts, else the first one. */
function errorFieldsOf({ settings, auth }: ProviderDeclaration): ErrorFields {
  const hosts = Object.keys(settings).filter((name) => settings[name]?.host && !(name in sharedSettings));
  return {
    host: (given) => (given.custom_host ? 'custom_host' : (hosts.find((name) => given[name]) ?? hosts[0] ?? null)),
    credential(given) {
      // The common modes are last in the list, but replace the provider's own scheme.
      const modes = auth.toReversed().map(({ setting, modes: known }) => known[String(given[setting])]);
      return modes.find((mode) => mode !== undefined)?.credential ?? 'api_key';
    },
  };
}

function withoutNulls(settings: ProviderSettings): ProviderSettings {
  return Object.values(settings).includes(null)
    ? Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null))
    : settings;
}
