import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import type { AdminApi } from './admin-api.ts';
import type { LabelFile, PartialFile, PromptFile } from './file-schema.ts';
import { templateKey, templateOf } from './read-directory.ts';

/** Changes that one file needs. */
export interface Plan {
  /** Phrases such as `create`, `new version (model)`, `publish`; empty if nothing changes. */
  readonly changes: readonly string[];
  /** Makes the changes. */
  apply(): Promise<void>;
}

const unchanged: Plan = { changes: [], apply: async () => {} };
const anyReply = v.unknown();
const anything = v.record(v.string(), v.unknown());

const savedLabels = v.object({
  data: v.array(
    v.object({ id: v.string(), name: v.string(), description: v.nullable(v.string()), color_code: v.nullable(v.string()) }),
  ),
});

/** Compares a label with the service. Members that the file leaves out stay. */
export async function planLabel(api: AdminApi, { name, ...wanted }: LabelFile): Promise<Plan> {
  const { data } = await api.ask('GET', '/labels', savedLabels);
  const saved = data.find((one) => one.name === name);
  if (!saved)
    return { changes: ['create'], apply: async () => void (await api.ask('POST', '/labels', anyReply, { name, ...wanted })) };
  const changes = (['description', 'color_code'] as const).filter(
    (key) => wanted[key] !== undefined && wanted[key] !== saved[key],
  );
  if (changes.length === 0) return unchanged;
  return { changes, apply: async () => void (await api.ask('PUT', `/labels/${saved.id}`, anyReply, { name, ...wanted })) };
}

const savedPartial = v.object({ name: v.string(), string: v.string(), version: v.number() });
const partialVersions = v.object({ data: v.array(v.object({ version: v.number(), string: v.string() })) });

/** Compares a partial with the service. */
export async function planPartial(api: AdminApi, slug: string, file: PartialFile): Promise<Plan> {
  const { name, text: string, description, publish } = file;
  const further = description === undefined ? {} : { version_description: description };
  const path = `/prompts/partials/${slug}`;
  const saved = await api.find(path, savedPartial);
  if (!saved) {
    const body = { name, slug, string, ...further };
    return { changes: ['create'], apply: async () => void (await api.ask('POST', '/prompts/partials', anyReply, body)) };
  }
  const { data } = await api.ask('GET', `${path}/versions`, partialVersions);
  const latest = data.reduce((newest, one) => (one.version > newest.version ? one : newest));
  const steps: Step[] = [];
  const isNew = latest.string !== string;
  if (isNew) steps.push(['new version', () => api.ask('PUT', path, anyReply, { string, ...further })]);
  const version = isNew ? latest.version + 1 : latest.version;
  if (publish && version !== saved.version)
    steps.push(['publish', () => api.ask('PUT', `${path}/makeDefault`, anyReply, { version })]);
  if (saved.name !== name) steps.push(['name', () => api.ask('PUT', path, anyReply, { name })]);
  return planOf(steps);
}

const savedPrompt = v.object({
  name: v.string(),
  string: v.string(),
  is_raw_template: v.number(),
  parameters: anything,
  model: v.nullable(v.string()),
  virtual_key: v.nullable(v.string()),
  functions: v.array(anything),
  tools: v.array(anything),
  tool_choice: v.unknown(),
  template_metadata: v.nullable(anything),
  prompt_version: v.number(),
});
type SavedPrompt = v.InferOutput<typeof savedPrompt>;
const promptLabels = v.object({
  data: v.array(v.object({ name: v.string(), versions: v.array(v.object({ version: v.number() })) })),
});
const changedPrompt = v.object({ prompt_version_id: v.string() });
const numbered = v.object({ prompt_version: v.number() });

/** Compares a prompt with the service: its newest version, the published one, and the labels that the file names. */
export async function planPrompt(api: AdminApi, slug: string, file: PromptFile): Promise<Plan> {
  const path = `/prompts/${slug}`;
  const content = contentOf(file);
  const provider = file.virtual_key?.replace(/^@/, '');
  const further = {
    ...(provider === undefined ? {} : { virtual_key: provider }),
    ...(file.description === undefined ? {} : { version_description: file.description }),
  };
  const label = (name: string, version: number) => api.ask('PUT', `${path}/labels/${name}`, anyReply, { version });
  const saved = await api.find(path, savedPrompt);
  if (!saved) {
    const body = { name: file.name, slug, ...content, ...further };
    return planOf([
      ['create', () => api.ask('POST', '/prompts', anyReply, body)],
      ...file.labels.map((name): Step => [`label ${name}`, () => label(name, 1)]),
    ]);
  }
  const latest = (await api.find(`${path}@latest`, savedPrompt)) ?? saved;
  const labels = (await api.ask('GET', `${path}/labels`, promptLabels)).data;
  const fields = differences(file, latest);
  let version = latest.prompt_version;
  const steps: Step[] = [];
  if (fields.length > 0) {
    const save = async () => {
      const { prompt_version_id: id } = await api.ask('PUT', path, changedPrompt, { ...content, ...further });
      version = (await api.ask('GET', `${path}/versions/${id}`, numbered)).prompt_version;
    };
    steps.push([`new version (${fields.join(', ')})`, save]);
  }
  const isPublished = fields.length === 0 && saved.prompt_version === version;
  if (file.publish && !isPublished) steps.push(['publish', () => api.ask('PUT', `${path}/makeDefault`, anyReply, { version })]);
  if (saved.name !== file.name) steps.push(['name', () => api.ask('PUT', path, anyReply, { name: file.name })]);
  if (fields.length === 0 && provider !== undefined && provider !== latest.virtual_key && (file.publish || isPublished)) {
    steps.push(['virtual_key', () => api.ask('PUT', path, anyReply, { virtual_key: provider })]);
  }
  for (const name of file.labels) {
    const named = labels.find((one) => one.name === name)?.versions ?? [];
    const isSet = fields.length === 0 && named.length === 1 && named[0]?.version === version;
    if (!isSet) steps.push([`label ${name}`, () => label(name, version)]);
  }
  return planOf(steps);
}

type Step = readonly [change: string, run: () => Promise<unknown>];

function planOf(steps: readonly Step[]): Plan {
  return {
    changes: steps.map(([change]) => change),
    async apply() {
      for (const [, run] of steps) await run();
    },
  };
}

function contentOf(file: PromptFile) {
  const { model = null, parameters, functions, tools, tool_choice = null, template_metadata = null } = file;
  return { ...templateOf(file), model, parameters, functions, tools, tool_choice, template_metadata };
}

/** Names of the members of a file whose values differ from a saved version. */
function differences(file: PromptFile, saved: SavedPrompt): string[] {
  const wanted = contentOf(file);
  const { model: _, ...parameters } = saved.parameters;
  const template = ({ string, is_raw_template }: { string: string; is_raw_template: number }) => [
    parsed(string),
    is_raw_template,
  ];
  const isSame: Readonly<Record<string, boolean>> = {
    [templateKey(file)]: isDeepStrictEqual(template(wanted), template(saved)),
    parameters: isDeepStrictEqual(wanted.parameters, parameters),
    ...Object.fromEntries(
      (['model', 'functions', 'tools', 'tool_choice', 'template_metadata'] as const).map((key) => [
        key,
        isDeepStrictEqual(wanted[key], saved[key] ?? null),
      ]),
    ),
  };
  return Object.keys(isSame).filter((key) => !isSame[key]);
}

/** Lists of messages are compared by their content, other templates by their text. */
function parsed(template: string): unknown {
  try {
    const value: unknown = JSON.parse(template);
    return Array.isArray(value) ? value : template;
  } catch {
    return template;
  }
}
