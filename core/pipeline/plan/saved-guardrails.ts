import type { Identity } from '../../contract/plugin/context.ts';
import {
  type GuardrailReference,
  type GuardrailRule,
  type GuardrailSide,
  guardrailSides,
  isRule,
  ruleOfSaved,
} from '../../contract/plugin/guardrails/guardrail-config.ts';
import type { DocumentReader } from '../../contract/plugin/plugin.ts';
import type { GuardrailDocument, WorkspaceDocument } from '../../contract/protocol/documents.ts';
import { headerParam } from '../../contract/protocol/header-names.ts';
import type { Secret } from '../../contract/values/credentials/secret.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { isPromise, type Maybe } from '../../contract/values/maybe.ts';

/** The saved guardrails of one plan. Two plans with the same documents are equal. */
export interface SavedGuardrails {
  /** Those that the config names, in the order of `PlanSource.references`. */
  readonly named: readonly GuardrailDocument[];
  /** Those that every request of the workspace runs: the organisation's, then the workspace's. */
  readonly start: readonly GuardrailDocument[];
  readonly input: readonly GuardrailDocument[];
  readonly output: readonly GuardrailDocument[];
}

/** Opens the secret parameters of a saved guardrail, by index of the check. */
export type OpenGuardrail = (document: GuardrailDocument) => ReadonlyMap<number, Secret>;

type Defaults = NonNullable<WorkspaceDocument['guardrails']>;

/** Returns the defaults of a workspace; null if it has none. */
export function defaultsOf(workspace: WorkspaceDocument | null): Defaults | null {
  const lists = workspace?.guardrails;
  if (!lists) return null;
  return Object.values(lists).every((list) => list.length === 0) ? null : lists;
}

/**
 * Loads saved guardrails of the caller's workspace and its organisation. Throws GatewayError `invalid_config` with the names of those that do
 * not exist: a request never runs without one of its guardrails. `param`: the part of the request that names them.
 */
export function loadGuardrails(
  documents: DocumentReader,
  { workspaceId, organisationId }: Pick<Identity, 'workspaceId' | 'organisationId'>,
  references: readonly GuardrailReference[],
  defaults: Defaults | null,
  param: string = headerParam('config'),
): Maybe<SavedGuardrails> {
  const both = [workspaceId, organisationId];
  const missing: string[] = [];
  const find = (name: string, versionId: string | null, owners: readonly string[]) => {
    const found = findDocument(documents, name, versionId, owners);
    const checked = (document: GuardrailDocument | null) => {
      if (document === null || (document.target ?? 'llm') !== 'llm') missing.push(name);
      return document as GuardrailDocument;
    };
    return isPromise(found) ? found.then(checked) : checked(found);
  };
  const current = (owners: readonly string[]) => (slug: string) => find(slug, null, owners);
  const lists = [
    references.map(({ name, versionId }) => find(name, versionId, both)),
    (defaults?.organisationStart ?? []).map(current([organisationId])),
    (defaults?.start ?? []).map(current(both)),
    (defaults?.organisationInput ?? []).map(current([organisationId])),
    (defaults?.input ?? []).map(current(both)),
    (defaults?.organisationOutput ?? []).map(current([organisationId])),
    (defaults?.output ?? []).map(current(both)),
  ];
  const conclude = (all: readonly (readonly GuardrailDocument[])[]): SavedGuardrails => {
    if (missing.length > 0) throw unknownGuardrails(missing, param);
    const [named = [], ...added] = all;
    const [organisationStart = [], start = [], organisationInput = [], input = [], organisationOutput = [], output = []] = added;
    return {
      named,
      start: once([...organisationStart, ...start]),
      input: once([...organisationInput, ...input]),
      output: once([...organisationOutput, ...output]),
    };
  };
  if (lists.some((list) => list.some(isPromise))) {
    return Promise.all(lists.map((list) => Promise.all(list))).then(conclude);
  }
  return conclude(lists as GuardrailDocument[][]);
}

/**
 * Loads the current versions of guardrails of tools, by name. Throws GatewayError `invalid_config` with the names of those that do not exist.
 */
export function loadToolGuardrails(
  documents: DocumentReader,
  { workspaceId, organisationId }: Pick<Identity, 'workspaceId' | 'organisationId'>,
  names: readonly string[],
): Maybe<readonly GuardrailDocument[]> {
  const owners = [workspaceId, organisationId];
  const found = names.map((name) => findDocument(documents, name, null, owners));
  const conclude = (all: readonly (GuardrailDocument | null)[]): readonly GuardrailDocument[] => {
    const missing = names.filter((_, index) => all[index]?.target !== 'mcp_tools');
    if (missing.length > 0) throw unknownGuardrails(missing);
    return all as readonly GuardrailDocument[];
  };
  return found.some(isPromise) ? Promise.all(found).then(conclude) : conclude(found as (GuardrailDocument | null)[]);
}

function findDocument(
  documents: DocumentReader,
  name: string,
  versionId: string | null,
  [owner, ...others]: readonly string[],
): Maybe<GuardrailDocument | null> {
  if (owner === undefined) return null;
  const conclude = (current: GuardrailDocument | null): Maybe<GuardrailDocument | null> => {
    if (current === null) return findDocument(documents, name, versionId, others);
    if (versionId === null || versionId === current.versionId) return current;
    return documents.get('guardrail', `${owner}/${current.id}/${versionId}`);
  };
  // A slash would name a version, also of a guardrail that was deleted.
  if (name.includes('/')) return null;
  const current = documents.get('guardrail', `${owner}/${name}`);
  return isPromise(current) ? current.then(conclude) : conclude(current);
}

function once(documents: readonly GuardrailDocument[]): readonly GuardrailDocument[] {
  const known = new Set<string>();
  return documents.filter(({ id }) => !known.has(id) && known.add(id));
}

function unknownGuardrails(names: readonly string[], param: string = headerParam('config')): GatewayError {
  const unique = [...new Set(names)].map((name) => name.slice(0, 255));
  const errors = unique.map((name) => `guardrails: no guardrail ${name} in this workspace`);
  return new GatewayError('invalid_config', {
    message: `Following guardrails are not valid: ${unique.join(', ')}`,
    errors,
    param,
  });
}

/** Returns true if both plans would be compiled from the same documents. */
export function sameGuardrails(one: SavedGuardrails | null, other: SavedGuardrails | null): boolean {
  if (one === null || other === null) return one === other;
  return sameList(one.named, other.named) && sameDefaults(one, other);
}

/** Returns true if both have the same defaults in the same versions. */
export function sameDefaults(one: SavedGuardrails | null, other: SavedGuardrails | null): boolean {
  return guardrailSides.every((side) => sameList(one?.[side] ?? [], other?.[side] ?? []));
}

function sameList(one: readonly GuardrailDocument[], other: readonly GuardrailDocument[]): boolean {
  return one.length === other.length && one.every((document, index) => document === other[index]);
}

/** Returns the rules of one side for the entries of a config. */
export type ResolveRules = (
  entries: readonly (GuardrailRule | GuardrailReference)[],
  side: GuardrailSide,
) => readonly GuardrailRule[];

/** Ignores saved guardrails: for checks of a config without its workspace. */
export const onlyOwnRules: ResolveRules = (entries) => entries.filter(isRule);

/**
 * Returns a function that puts the saved guardrails in the place of their references and adds the defaults behind them (start hooks: before
 * them). A default that the
 * config names without changes runs once. One that the config names with other actions or in another version runs in both forms, so that a
 * caller cannot weaken it.
 */
export function rulesWith(
  references: readonly GuardrailReference[],
  { named, ...defaults }: SavedGuardrails,
  openSecrets: OpenGuardrail,
): ResolveRules {
  const keyOf = ({ name, versionId }: GuardrailReference) => JSON.stringify([name, versionId]);
  const byKey = new Map(references.map((reference, index) => [keyOf(reference), named[index] as GuardrailDocument]));
  return (entries, side) => {
    const unchanged = new Set<string>();
    const own = entries.map((entry) => {
      if (isRule(entry)) return entry;
      const document = byKey.get(keyOf(entry)) as GuardrailDocument;
      if (isUnchanged(entry)) unchanged.add(document.id);
      return ruleOfSaved(entry, document, openSecrets(document));
    });
    const added = defaults[side].flatMap((document) => {
      if (unchanged.has(document.id)) return [];
      const list = side === 'start' ? 'start_hooks' : `${side}_guardrails`;
      const reference = { path: `default ${list} ${document.slug}`, type: 'guardrail', actions: {} } as const;
      return [ruleOfSaved(reference, document, openSecrets(document))];
    });
    return side === 'start' ? [...added, ...own] : [...own, ...added];
  };
}

function isUnchanged({ type, versionId, actions }: GuardrailReference): boolean {
  return type === 'guardrail' && versionId === null && Object.keys(actions).length === 0;
}
