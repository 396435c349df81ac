import type { ModelSources } from '../contract/provider/model-sources.ts';
import { type Operation, operationNames, type ProviderAdapter } from '../contract/provider/provider.ts';
import { GatewayError, toGatewayError } from '../contract/values/errors/errors.ts';
import { isObject, type JsonObject } from '../contract/values/json/json.ts';
import type { Usage } from '../contract/values/models/usage.ts';
import { checkedUsage } from './checked-usage.ts';

type Issue = (text: string) => Error;

/**
 * Returns a third-party adapter whose usage is checked when it is read: a malformed count would make the record unwritable. Throws an Error
 * that names the missing member. Adapters and operations are plain objects, because methods of classes would not be copied.
 */
export function guardAdapter(adapter: ProviderAdapter): ProviderAdapter {
  const copy = { ...adapter };
  const issue: Issue = (text) => new Error(`PROVIDERS: the adapter of ${adapter.id}: ${text}`);
  for (const name of ['baseUrl', 'headers', 'error'] as const)
    if (typeof copy[name] !== 'function') throw issue(`${name}: expected a function`);
  // A misspelt member would let restricted models pass.
  for (const [name, source] of Object.entries(copy.modelSources ?? {})) {
    const kind = Object.hasOwn(sourceKinds, name) ? sourceKinds[name as keyof ModelSources] : null;
    if (kind === null) throw issue(`modelSources.${name}: unknown member`);
    if (kind === 'list' ? !Array.isArray(source) : typeof source !== 'function')
      throw issue(`modelSources.${name}: expected a ${kind}`);
  }
  if (!isObject(copy.operations)) throw issue('operations: expected an object');
  const operations = Object.entries(copy.operations).map(([name, operation]) => {
    if (!(operationNames as readonly string[]).includes(name)) throw issue(`operations.${name}: unknown operation`);
    return [name, guardOperation(operation, (text) => issue(`operations.${name}.${text}`))] as const;
  });
  const { realtime } = copy;
  return {
    ...copy,
    ...(realtime ? { realtime: { ...realtime, usage: (event) => checkedUsage(realtime.usage(event)) } } : {}),
    operations: Object.fromEntries(operations),
  };
}

const sourceKinds: Readonly<Record<keyof ModelSources, 'function' | 'list'>> = {
  inPath: 'function',
  inBody: 'function',
  hidden: 'function',
  headers: 'list',
};

function guardOperation(given: Operation, issue: Issue): Operation {
  const operation = { ...given };
  for (const member of ['path', 'usage', 'streamReader'] as const)
    if (typeof operation[member] !== 'function') throw issue(`${member}: expected a function`);
  return {
    ...operation,
    usage: (reply, call) => checkedUsage(operation.usage(reply, call)),
    streamReader: () => guardReader(operation, issue),
    ...guardOptional(operation, issue),
  };
}

/** Returns the members that not every operation has. */
function guardOptional(operation: Operation, issue: Issue): Partial<Operation> {
  const { ofCall, usageOfCall, toContent, toProvider, fromProvider } = operation;
  return {
    ...(ofCall || toContent || toProvider ? { changesInPlace: true as const } : {}),
    ...(ofCall ? { ofCall: (call) => guardChosen(ofCall.call(operation, call), issue) } : {}),
    ...(usageOfCall ? { usageOfCall: (call) => checkedUsage(usageOfCall.call(operation, call)) } : {}),
    ...(toProvider
      ? { toProvider: (params, call) => bodyOf(toProvider.call(operation, params, call), 'toProvider', issue) }
      : {}),
    ...(fromProvider
      ? { fromProvider: (reply, call) => bodyOf(fromProvider.call(operation, reply, call), 'fromProvider', issue) }
      : {}),
  };
}

/** An operation that selects no other one for a call stays in place. */
function guardChosen(chosen: Operation, issue: Issue): Operation {
  return chosen ? guardOperation(chosen, (text) => issue(`ofCall.${text}`)) : chosen;
}

function guardReader(operation: Operation, issue: Issue): ReturnType<Operation['streamReader']> {
  const reader = operation.streamReader();
  const usage: () => Usage | null = reader.usage.bind(reader);
  reader.usage = () => checkedUsage(usage());
  const error: (() => unknown) | undefined = reader.error?.bind(reader);
  if (error) reader.error = () => reportedError(error(), issue);
  return reader;
}

/** The provider has reported an error, so that another value than a GatewayError still ends the stream with one. */
function reportedError(reported: unknown, issue: Issue): GatewayError | null {
  if (reported === null || reported === undefined) return null;
  const error = toGatewayError(reported, 'upstream_invalid');
  if (error.code !== 'upstream_invalid' || error === reported) return error;
  const { message } = issue(`streamReader.error: got ${typeof reported}, expected a GatewayError or null`);
  return new GatewayError('upstream_invalid', { detail: message, cause: reported });
}

/** Throws an Error for a promise, which would be sent as `{}`, and for a forgotten return value, which would leave the body as it is. */
function bodyOf(body: unknown, member: string, issue: Issue): JsonObject {
  if (isObject(body) && typeof body.then !== 'function') return body;
  throw issue(`${member}: got ${isObject(body) ? 'a promise' : body === null ? 'null' : typeof body}, expected an object`);
}
