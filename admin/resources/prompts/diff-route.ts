import * as v from 'valibot';
import { nullableText, uuid } from '../../http/reply/reply-schemas.ts';
import { tenantEntries } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { findPrompt } from './service.ts';
import { findVersion } from './versions.ts';

const reference = v.pipe(
  v.string(),
  v.regex(/^[^@/\s]{1,64}$/, 'a version is expected: its number, id, latest, default or a label'),
);

const position = v.nullable(v.number());
const version = v.strictObject({ version: v.number(), version_id: uuid, description: nullableText, owner_id: uuid });

/** The difference of two versions of a prompt. */
export const promptDiffRoute: AdminRoute = defineRoute({
  tenant: 'either',
  resource: 'prompts',
  method: 'GET',
  path: '/prompts/:promptId/diff',
  summary: 'Compare two versions of a prompt, message by message; by default the published with the newest one',
  scopes: ['prompts.read'],
  action: 'diff',
  query: v.strictObject({ ...tenantEntries, from: v.optional(reference, 'default'), to: v.optional(reference, 'latest') }),
  body: null,
  reply: v.strictObject({
    object: v.literal('prompt-diff'),
    from: version,
    to: version,
    messages: v.array(
      v.strictObject({
        change: v.picklist(['same', 'changed', 'added', 'removed']),
        role: nullableText,
        from: position,
        to: position,
        parts: v.array(v.strictObject({ change: v.picklist(['same', 'added', 'removed']), text: v.string() })),
      }),
    ),
    fields: v.array(v.strictObject({ field: v.string(), from: v.unknown(), to: v.unknown() })),
  }),
  async handle(call) {
    const prompt = await findPrompt(call.em, call, call.params.promptId ?? '');
    const [from, to] = [await findVersion(call.em, prompt, call.query.from), await findVersion(call.em, prompt, call.query.to)];
    const [older, newer] = [from, to].map(({ id, number, description, ownerId }) => ({
      ...{ version: number, version_id: id, description: description ?? null, owner_id: ownerId },
    }));
    // Loaded when it is used first, with the package that compares texts.
    const { compareVersions } = await import('./compare-versions.ts');
    return { object: 'prompt-diff', from: older, to: newer, ...compareVersions(from, to) };
  },
});
