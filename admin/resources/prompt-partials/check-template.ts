import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { compileTemplate, TemplatePartial } from '../../../core/prompts/compile-template.ts';
import { TemplateError } from '../../../core/prompts/template-error.ts';
import { partialsOf } from '../../../core/prompts/template-variables.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { WorkspaceTenant } from '../../db/tenant.ts';
import { invalid } from '../../http/errors.ts';
import { type PromptPartial, promptPartials, promptPartialVersions } from './entity.ts';
import { isReadableIn } from './share.ts';

/** Returns the references of the partials of a template. Throws AB01 with line and column if it cannot be compiled. */
export function checkTemplate(text: string, isRaw: boolean): readonly string[] {
  return checked(() => partialsOf(compileTemplate(text, { isRaw })));
}

/** Like `checkTemplate`, for the text of a partial. */
function checkPartial(text: string): readonly string[] {
  return checked(() => partialsOf(new TemplatePartial(text)));
}

/**
 * Checks the text of a partial, also if this version were published. Throws AB01 with line and column, or with the path of partials that
 * include each other.
 */
export async function checkPartialText(em: EntityManager, partial: PromptPartial, text: string): Promise<void> {
  const checker = new CycleChecker(em, { id: partial.id, text });
  await checker.visit(partial, checkPartial(text), [partial.slug]);
}

/** Returns the partial that a reference names for a workspace: its own, or one that is shared with it. Null if there is none. */
export async function findReferenced(
  em: EntityManager,
  owner: WorkspaceTenant,
  reference: string,
): Promise<PromptPartial | null> {
  const name = nameOf(reference);
  const where = {
    ...(isUuid(name) ? { id: name } : { slug: name }),
    organisationId: owner.organisationId,
    status: 'active' as const,
  };
  const found = await em.findOne(promptPartials, where);
  return found && isReadableIn(found, owner.workspaceId) ? found : null;
}

/** Maximum number of partials that are followed. Gateways have a lower limit. */
const partialsMax = 1_000;

class CycleChecker {
  readonly #em: EntityManager;
  /** The partial under change, with the text that it would have. */
  readonly #changed: { readonly id: string; readonly text: string };
  readonly #done = new Set<string>();

  constructor(em: EntityManager, changed: { readonly id: string; readonly text: string }) {
    this.#em = em;
    this.#changed = changed;
  }

  async visit(owner: WorkspaceTenant, references: readonly string[], path: readonly string[]): Promise<void> {
    for (const reference of references) {
      const found = await findReferenced(this.#em, owner, reference);
      if (!found) continue;
      const name = reference.includes('@') ? `${found.slug}@${reference.split('@')[1]}` : found.slug;
      if (path.includes(name)) {
        const cycle = [...path.slice(path.indexOf(name)), name].join(' → ');
        throw invalid(`string: partials include each other: ${cycle}`);
      }
      if (this.#done.has(name) || this.#done.size >= partialsMax) continue;
      this.#done.add(name);
      await this.visit(found, partialsOf(new TemplatePartial(await this.#textOf(found, reference))), [...path, name]);
    }
  }

  async #textOf(partial: PromptPartial, reference: string): Promise<string> {
    const pinned = reference.split('@')[1];
    if (pinned === undefined && partial.id === this.#changed.id) return this.#changed.text;
    const number = pinned === undefined ? partial.version : pinned === 'latest' ? partial.latestVersion : Number(pinned);
    if (!Number.isSafeInteger(number)) return '';
    const version = await this.#em.findOne(promptPartialVersions, { partialId: partial.id, number });
    return version?.string ?? '';
  }
}

function nameOf(reference: string): string {
  return reference.split('@')[0] ?? '';
}

function checked<T>(compile: () => T): T {
  try {
    return compile();
  } catch (error) {
    if (error instanceof TemplateError) throw invalid(`string: ${error.message}`);
    throw error;
  }
}
