import type { Identity, RequestContext } from '../../core/contract/plugin/context.ts';
import type { WorkspaceDocument } from '../../core/contract/protocol/documents.ts';
import { headerParam } from '../../core/contract/protocol/header-names.ts';
import { GatewayError } from '../../core/contract/values/errors/errors.ts';
import { headerText } from '../../core/contract/values/http/http.ts';
import { isObject } from '../../core/contract/values/json/json.ts';
import { addBaggage } from './baggage.ts';

type Metadata = Readonly<Record<string, string>>;

/** Client headers that become metadata, in lower case, and the prefix of their names. */
export interface MetadataHeaders {
  readonly names: readonly string[];
  readonly keyPrefix: string;
}

const valueLengthMax = 128;
const keysMax = 50;

/**
 * Merges metadata in descending priority: workspace, key, `x-svc-metadata`, mapped headers, W3C `baggage`. `_user` defaults to
 * the body's `user`. If the workspace requires it, the name of the key's owner replaces it. Throws `bad_request` naming the
 * header for anything but a flat object of short strings, numbers and booleans, which become text, and of null, which is left out.
 */
export function readMetadata(
  ctx: RequestContext,
  identity: Identity,
  workspace: WorkspaceDocument,
  mapped: MetadataHeaders,
): Metadata {
  const header = ctx.gatewayHeaders.get('metadata') || undefined;
  const baggage = ctx.request.header('baggage');
  const user = ctx.params?.user;
  const stored = storedMetadata(identity, workspace);
  const owner = workspace.settings?.userKeyMetadata === true ? (identity.userName ?? identity.userId) : null;
  const isAlone = header === undefined && baggage === undefined && typeof user !== 'string';
  if (isAlone && owner === null && mapped.names.length === 0) return stored;
  const metadata: Record<string, string> = Object.create(null);
  if (baggage !== undefined) addBaggage(metadata, baggage, valueLengthMax);
  for (const name of mapped.names) {
    const value = ctx.request.header(name);
    if (value !== undefined && value !== '') metadata[mapped.keyPrefix + name] = headerText(value).slice(0, valueLengthMax);
  }
  if (header !== undefined) addSent(metadata, header);
  Object.assign(metadata, stored);
  if (typeof user === 'string') metadata._user ??= user.slice(0, valueLengthMax);
  if (owner !== null) {
    if (workspace.settings?.userKeyMetadataOverride) metadata._user ??= owner.slice(0, valueLengthMax);
    else metadata._user = owner.slice(0, valueLengthMax);
  }
  return metadata;
}

/** Metadata of key and workspace, merged once for each pair: most requests add none of their own. */
const pairs = new WeakMap<Identity, { readonly workspace: WorkspaceDocument; readonly metadata: Metadata }>();

function storedMetadata(identity: Identity, workspace: WorkspaceDocument): Metadata {
  const known = pairs.get(identity);
  if (known?.workspace === workspace) return known.metadata;
  const metadata = Object.freeze({ ...identity.defaults.metadata, ...workspace.metadata });
  pairs.set(identity, { workspace, metadata });
  return metadata;
}

function addSent(metadata: Record<string, string>, header: string): void {
  let value: unknown;
  try {
    value = JSON.parse(headerText(header));
  } catch {
    throw issue('expected a JSON object');
  }
  if (!isObject(value)) throw issue('expected a JSON object');
  const entries = Object.entries(value);
  if (entries.length > keysMax) throw issue(`expected at most ${keysMax} keys`);
  for (const [key, item] of entries) {
    if (item === null) continue;
    if (typeof item !== 'string' && typeof item !== 'number' && typeof item !== 'boolean') {
      throw issue(`${key}: expected a string, a number or a boolean`);
    }
    const text = String(item);
    if (text.length > valueLengthMax) throw issue(`${key}: expected at most ${valueLengthMax} characters`);
    metadata[key] = text;
  }
}

function issue(text: string): GatewayError {
  return new GatewayError('bad_request', { message: `Invalid metadata passed: ${text}`, param: headerParam('metadata') });
}
