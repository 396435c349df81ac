import { isDeepStrictEqual } from 'node:util';
import { textOrNull } from '../../../core/contract/values/json/json.ts';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { WorkspaceTenant } from '../../db/tenant.ts';
import { invalid, notFound, unknownReference } from '../../http/errors.ts';
import { itemOf } from '../../http/filters/find-item.ts';
import { providers } from '../providers/entity.ts';
import { type Prompt, type PromptVersion, promptLabelVersions, promptVersions } from './entity.ts';
import type { CreateBody, UpdateBody } from './schema.ts';

/** Parts of a version whose change makes a new version. */
export type Content = Pick<
  PromptVersion,
  'string' | 'isRawTemplate' | 'parameters' | 'model' | 'functions' | 'tools' | 'toolChoice' | 'templateMetadata'
>;

/** The content of a new prompt. */
export function contentOf(sent: CreateBody): Content {
  return inOneForm({
    string: sent.string,
    isRawTemplate: isSet(sent.is_raw_template),
    parameters: sent.parameters,
    model: sent.model ?? null,
    functions: sent.functions ?? null,
    tools: sent.tools ?? null,
    toolChoice: sent.tool_choice ?? null,
    templateMetadata: sent.template_metadata ?? null,
  });
}

/**
 * Returns the content that an update asks for; null if it names none or nothing changes. With `patch`, fields that are not sent keep their
 * value of the latest version, and null clears. Without, `string` and `parameters` are required and other fields that are not sent are
 * cleared. Throws AB01.
 */
export function changedContent(sent: UpdateBody, latest: PromptVersion): Content | null {
  const { patch = false, ...rest } = sent;
  const templateMetadata = sent.template_metadata === undefined ? sent.prompt_metadata : sent.template_metadata;
  const fields = { ...rest, template_metadata: templateMetadata };
  if (!contentFields.some((field) => (patch ? fields[field] !== undefined : (fields[field] ?? null) !== null))) return null;
  if (!patch) {
    const missing = (['string', 'parameters'] as const).filter((field) => (sent[field] ?? null) === null);
    if (missing.length > 0)
      throw invalid(...missing.map((field) => `${field}: required for a new version. Send patch=true to keep its value`));
  }
  const kept = <T>(value: T | undefined, before: T): T => (value === undefined && patch ? before : (value as T));
  const content = inOneForm({
    string: sent.string ?? latest.string,
    isRawTemplate: sent.is_raw_template == null ? latest.isRawTemplate : isSet(sent.is_raw_template),
    parameters: sent.parameters ?? latest.parameters,
    model: kept(sent.model, latest.model) ?? null,
    functions: kept(sent.functions, latest.functions) ?? null,
    tools: kept(sent.tools, latest.tools) ?? null,
    toolChoice: kept(sent.tool_choice, latest.toolChoice) ?? null,
    templateMetadata: kept(templateMetadata, latest.templateMetadata) ?? null,
  });
  return isDeepStrictEqual(content, contentIn(latest)) ? null : content;
}

/** Content of a version without its row. */
export function contentIn(version: PromptVersion): Content {
  const { string, isRawTemplate, parameters } = version;
  return {
    ...{ string, isRawTemplate, parameters },
    model: version.model ?? null,
    functions: version.functions ?? null,
    tools: version.tools ?? null,
    toolChoice: version.toolChoice ?? null,
    templateMetadata: version.templateMetadata ?? null,
  };
}

/** Adds version `latestVersion` of the prompt. */
export function addVersion(
  em: EntityManager,
  prompt: Prompt,
  content: Content & { readonly virtualKey: string | null; readonly description: string | null },
  ownerId: string,
): PromptVersion {
  const { id: promptId, organisationId, workspaceId, latestVersion: number, lastUpdatedAt: createdAt } = prompt;
  return em.create(promptVersions, {
    id: newId(),
    organisationId,
    workspaceId,
    promptId,
    number,
    ...content,
    ownerId,
    createdAt,
  });
}

/** All versions, newest first. */
export async function listVersions(em: EntityManager, prompt: Prompt): Promise<PromptVersion[]> {
  return em.find(promptVersions, versionsOf(prompt), { orderBy: { number: 'desc' } });
}

/** Returns a version by number. Throws AB08. */
export async function versionOf(em: EntityManager, prompt: Prompt, number: number): Promise<PromptVersion> {
  const found = await em.findOne(promptVersions, { ...versionsOf(prompt), number });
  if (!found) throw notFound('Version');
  return found;
}

/** Returns a version by row id, number, `latest`, `default` or the name of a label. Throws AB08. */
export async function findVersion(em: EntityManager, prompt: Prompt, name: string): Promise<PromptVersion> {
  if (isUuid(name)) {
    const found = await em.findOne(promptVersions, { ...versionsOf(prompt), id: name });
    if (!found) throw notFound('Version');
    return found;
  }
  if (/^\d{1,9}$/.test(name)) return versionOf(em, prompt, Number(name));
  if (name === 'latest') return versionOf(em, prompt, prompt.latestVersion);
  if (name === 'default') return versionOf(em, prompt, prompt.version);
  const [first] = (await namedLabels(em, prompt))[name] ?? [];
  if (!first) throw notFound('Version');
  return versionOf(em, prompt, first.version);
}

/** The versions that labels name, by name of the label. The version with the greatest weight is first. */
export async function namedLabels(
  em: EntityManager,
  { organisationId, id }: Prompt,
): Promise<Record<string, { version: number; weight: number }[]>> {
  const rows = await em.execute<{ name: string; versions: { version: number; weight: number }[] }[]>(
    `select l.name, p.versions from prompt_label_versions p join prompt_labels l on l.id = p.label_id
     where p.organisation_id = ? and p.prompt_id = ? and l.status = 'active' order by l.name`,
    [organisationId, id],
  );
  const used = rows.filter(({ versions }) => versions.length > 0);
  return Object.fromEntries(used.map(({ name, versions }) => [name, versions.toSorted((a, b) => b.weight - a.weight)]));
}

/** The labels of a prompt, last changed first. */
export async function labelsOf(em: EntityManager, { organisationId, id: promptId }: Prompt) {
  return em.find(promptLabelVersions, { organisationId, promptId }, { orderBy: { lastUpdatedAt: 'desc', id: 'asc' } });
}

/** Returns the slug of a provider of the workspace, from its slug or id. Throws AB02. */
export async function providerSlug(
  em: EntityManager,
  { organisationId, workspaceId }: WorkspaceTenant,
  named: string,
): Promise<string> {
  const found = await em.findOne(providers, itemOf({ organisationId, workspaceId }, named));
  if (!found) throw unknownReference('virtual_key', 'Provider');
  return found.slug;
}

const contentFields = [
  ...(['string', 'parameters', 'model', 'functions', 'tools', 'tool_choice'] as const),
  ...(['is_raw_template', 'template_metadata'] as const),
];

function versionsOf({ organisationId, id }: Prompt) {
  return { organisationId, promptId: id };
}

/** `model` may be sent as a parameter. */
function inOneForm(content: Content): Content {
  if (!Object.hasOwn(content.parameters, 'model')) return content;
  const { model, ...parameters } = content.parameters;
  return { ...content, parameters, model: content.model ?? textOrNull(model) };
}

function isSet(flag: boolean | 0 | 1 | null | undefined): boolean {
  return flag === true || flag === 1;
}
