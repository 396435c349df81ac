import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { compileTemplate, TemplatePartial } from '../../../core/prompts/compile-template.ts';
import { partialsOf } from '../../../core/prompts/template-variables.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { PromptPartial } from './entity.ts';

/** A version of a prompt or a partial that includes a partial. */
interface PartialUse {
  readonly type: 'prompt' | 'partial';
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly version: number;
  readonly is_published: boolean;
  /** The reference in its text: `pp-x`, or `pp-x@5` for a fixed version. */
  readonly reference: string;
  /** Slugs of the partials between them, from the one that is asked about; empty if it includes the partial itself. */
  readonly via: readonly string[];
}

export interface PartialUses {
  readonly uses: readonly PartialUse[];
  /** Uses in other workspaces, which the caller may not read. */
  readonly elsewhere: number;
}

interface Row {
  readonly type: 'prompt' | 'partial';
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly workspace_id: string;
  readonly number: number;
  readonly is_published: boolean;
  readonly string: string;
  readonly is_raw: boolean;
}

/** Maximum number of partials whose uses are followed. */
const followedMax = 100;

/**
 * Returns the versions that requests can reach without naming a number (published, newest, labelled) and that include the partial, directly or
 * through other partials. Partials that variables choose are not part of it.
 */
export async function usesOf(em: EntityManager, partial: PromptPartial): Promise<PartialUses> {
  const uses: PartialUse[] = [];
  let elsewhere = 0;
  const open = [{ id: partial.id, slug: partial.slug, via: [] as readonly string[] }];
  const seen = new Set([partial.id]);
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    for (const row of await readUsers(em, partial.organisationId, next)) {
      const reference = referenceIn(row, next);
      if (reference === undefined || row.id === partial.id) continue;
      const { type, id, slug, name, number: version, is_published } = row;
      if (row.workspace_id === partial.workspaceId)
        uses.push({ type, id, slug, name, version, is_published, reference, via: next.via });
      else elsewhere += 1;
      if (type === 'prompt' || !is_published || seen.has(id) || seen.size >= followedMax) continue;
      seen.add(id);
      open.push({ id, slug, via: [...next.via, slug] });
    }
  }
  return { uses, elsewhere };
}

/** Texts that contain the slug or id of a partial. Some of them may not name it in a tag. */
async function readUsers(em: EntityManager, organisationId: string, { id, slug }: { id: string; slug: string }): Promise<Row[]> {
  const contains = '(strpos(v.string, ?) > 0 or strpos(v.string, ?) > 0)';
  return em.execute<Row[]>(
    `select 'prompt' as type, p.id, p.slug, p.name, p.workspace_id, v.number, v.number = p.version as is_published, v.string,
       v.is_raw_template as is_raw
     from prompts p join prompt_versions v on v.prompt_id = p.id
     where p.organisation_id = ? and p.status = 'active' and ${contains} and (v.number in (p.version, p.latest_version) or exists (
       select 1 from prompt_label_versions l where l.prompt_id = p.id
         and l.versions @> jsonb_build_array(jsonb_build_object('version', v.number))))
     union all
     select 'partial', p.id, p.slug, p.name, p.workspace_id, v.number, v.number = p.version, v.string, false
     from prompt_partials p join prompt_partial_versions v on v.partial_id = p.id
     where p.organisation_id = ? and p.status = 'active' and ${contains} and v.number in (p.version, p.latest_version)
     order by 1 desc, 3, 6`,
    [organisationId, slug, id, organisationId, slug, id],
  );
}

function referenceIn(row: Row, { id, slug }: { readonly id: string; readonly slug: string }): string | undefined {
  const text = row.type === 'prompt' ? compileTemplate(row.string, { isRaw: row.is_raw }) : new TemplatePartial(row.string);
  return partialsOf(text).find((reference) => {
    const [name = ''] = reference.split('@');
    return isUuid(name) ? name === id : name === slug;
  });
}
