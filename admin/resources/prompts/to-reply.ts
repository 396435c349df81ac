import type { Prompt, PromptLabelVersions, PromptVersion } from './entity.ts';

/** A prompt as lists show it. */
export function toRow(row: Prompt, model: string | null) {
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    collection_id: row.collectionId,
    model,
    status: row.status,
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.lastUpdatedAt.toISOString(),
    object: 'prompt',
  };
}

/** A prompt with one version. */
export function toDetail(row: Prompt, version: PromptVersion, labels: readonly PromptLabelVersions[]) {
  const { object: _, model: __, ...fields } = toRow(row, null);
  return {
    ...fields,
    ...contentOf(version),
    prompt_version: version.number,
    prompt_version_id: version.id,
    prompt_version_status: statusOf(row, version),
    prompt_version_description: version.description ?? null,
    prompt_version_label_id: labelOf(version, labels),
  };
}

/** A version as the list of versions shows it. */
export function toVersion(row: Prompt, version: PromptVersion, labels: readonly PromptLabelVersions[]) {
  return {
    id: version.id,
    prompt_id: row.id,
    prompt_template: contentOf(version),
    prompt_version: version.number,
    prompt_version_status: statusOf(row, version),
    prompt_description: version.description ?? null,
    label_id: labelOf(version, labels),
    owner_id: version.ownerId,
    created_at: version.createdAt.toISOString(),
    status: row.status,
    object: 'prompt',
  };
}

/** `model` is in the parameters too, where older clients read it. */
function contentOf(version: PromptVersion) {
  const model = version.model ?? null;
  return {
    string: version.string,
    parameters: model === null ? version.parameters : { ...version.parameters, model },
    model,
    virtual_key: version.virtualKey ?? null,
    functions: version.functions ?? [],
    tools: version.tools ?? [],
    tool_choice: version.toolChoice ?? null,
    template_metadata: version.templateMetadata ?? null,
    is_raw_template: version.isRawTemplate ? 1 : 0,
  };
}

/** The published version is active, the others are archived. */
function statusOf(row: Prompt, { number }: PromptVersion): 'active' | 'archived' {
  return number === row.version ? 'active' : 'archived';
}

/** If there are several labels, returns the one that was set last. */
function labelOf({ number }: PromptVersion, labels: readonly PromptLabelVersions[]): string | null {
  return labels.find(({ versions }) => versions.some(({ version }) => version === number))?.labelId ?? null;
}
