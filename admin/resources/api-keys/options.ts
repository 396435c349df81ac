import { p } from '@mikro-orm/core';
import * as v from 'valibot';
import type { KeyOptions } from '../../../core/contract/protocol/documents.ts';
import { text } from '../../http/request/schemas.ts';
import { email } from '../../identity/schema.ts';

interface Option {
  /** Name in requests and replies. */
  readonly field: string;
  readonly body: v.GenericSchema;
  readonly reply: v.GenericSchema;
  /** Property of the entity. */
  readonly property: unknown;
  readonly initial: unknown;
  /** Column of the table, for options that gateways load. These restrict the requests of the key, so that a key cannot change its own. */
  readonly column?: string;
}

/**
 * Fields of a key that are stored and returned as sent. One row gives the column with its default, the field of requests and replies, and,
 * for a name in `KeyOptions`, the field of the document that gateways load. A new column also needs a migration.
 */
export const keyOptions = {
  description: {
    field: 'description',
    body: v.nullish(text),
    reply: v.nullable(v.string()),
    property: p.text().nullable(),
    initial: null as string | null,
  },
  /** True: rejects requests whose usage cannot be measured. */
  rejectUnmetered: {
    field: 'reject_unmetered_requests',
    body: v.optional(v.boolean()),
    reply: v.boolean(),
    property: p.boolean().onCreate(() => false),
    initial: false as boolean,
    column: 'reject_unmetered',
  },
  alertEmails: {
    field: 'alert_emails',
    body: v.nullish(
      v.pipe(
        v.array(email),
        v.maxLength(50, 'at most 50 addresses'),
        v.transform((addresses) => [...new Set(addresses)]),
      ),
    ),
    reply: v.array(v.string()),
    property: p
      .json()
      .$type<string[]>()
      .onCreate(() => []),
    initial: [] as string[],
  },
} as const satisfies Readonly<Record<string, Option>> & {
  readonly [Name in keyof KeyOptions]-?: Option & { readonly column: string };
};

type Options = typeof keyOptions;
type Name = keyof Options;
/** Values of the options, by name. */
type Values = { [K in Name]: Options[K]['initial'] };
type Bodies = { [K in Name as Options[K]['field']]: Options[K]['body'] };
type Replies = { [K in Name as Options[K]['field']]: Options[K]['reply'] };

const entries = Object.entries(keyOptions) as [Name, Options[Name]][];

/** Properties of the entity. */
export const optionProperties = mapOptions((option) => option.property) as { [K in Name]: Options[K]['property'] };

/** Values of a key that sets none of them. */
export const optionDefaults = mapOptions((option) => option.initial) as Values;

/** Fields of request bodies. */
export const optionBodies = Object.fromEntries(entries.map(([, { field, body }]) => [field, body])) as unknown as Bodies;

/** Fields of replies. */
export const optionReplies = Object.fromEntries(entries.map(([, { field, reply }]) => [field, reply])) as unknown as Replies;

/** Returns the options that a body sets; null sets the default. */
export function sentOptions(body: Readonly<Partial<Record<Options[Name]['field'], unknown>>>): Partial<Values> {
  const sent = entries.filter(([, { field }]) => body[field] !== undefined);
  return Object.fromEntries(sent.map(([name, { field, initial }]) => [name, body[field] ?? initial]));
}

/** Returns the fields of a reply. */
export function optionReply(row: Readonly<{ [K in Name]?: unknown }>): { [F in keyof Replies]: v.InferOutput<Replies[F]> } {
  return Object.fromEntries(entries.map(([name, { field, initial }]) => [field, row[name] ?? initial])) as never;
}

/** The options that gateways load. */
const loaded = entries.filter(([, option]) => 'column' in option);
/** Their columns, by name. */
const columns = entries.flatMap(([name, option]) => ('column' in option ? [[name, option.column] as const] : []));

/** Returns the values of the options that gateways load. */
export function optionBounds(row: Readonly<{ [K in Name]?: unknown }>): unknown[] {
  return loaded.map(([name, { initial }]) => row[name] ?? initial);
}

/** Returns the fields of a body that set an option that gateways load. */
export function loadedFields(body: Readonly<Partial<Record<Options[Name]['field'], unknown>>>): string[] {
  return loaded.flatMap(([, { field, initial }]) => ((body[field] ?? initial) === initial ? [] : [field]));
}

/** Columns of the table `k` for the statement that reads documents. */
export const optionColumns = columns.map(([, column]) => `k.${column}`).join(', ');

/** Returns the fields of the document that gateways load, from a row of that statement. */
export function optionDocument(row: object): KeyOptions {
  const values = row as Readonly<Record<string, unknown>>;
  return Object.fromEntries(columns.map(([name, column]) => [name, values[column]]));
}

function mapOptions(of: (option: Options[Name]) => unknown): Record<string, unknown> {
  return Object.fromEntries(entries.map(([name, option]) => [name, of(option)]));
}
