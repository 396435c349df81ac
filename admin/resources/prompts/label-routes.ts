import * as v from 'valibot';
import type { AdminCall } from '../../http/admin-call.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { asReference, invalid } from '../../http/errors.ts';
import { bothEnvelopes, emptyReply, inBothEnvelopes, listOf, time, uuid } from '../../http/reply/reply-schemas.ts';
import { id, tenantEntries, tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import type { Change } from '../../publish/write-change.ts';
import type { Prompt } from './entity.ts';
import { versionNumber } from './schema.ts';
import { findPrompt, holdPrompt } from './service.ts';
import { listLabels, type NamedLabel, removeLabels, revertLabel, setLabel } from './set-label.ts';
import { findVersion } from './versions.ts';

const shared = { tenant: 'either', resource: 'prompts', query: tenantQuery, body: null } as const;

/** Null removes all labels of the version. */
const versionBody = v.strictObject({ ...tenantEntries, label_id: v.nullable(id) });

const weight = v.pipe(v.number(), v.finite(), v.minValue(0.001, 'at least 0.001'), v.maxValue(1_000_000, 'at most 1,000,000'));

const split = v.pipe(
  v.array(v.strictObject({ version: versionNumber, weight })),
  v.minLength(1, 'at least one version is expected'),
  v.maxLength(10, 'at most 10 versions'),
  v.check((all) => new Set(all.map(({ version }) => version)).size === all.length, 'each version can be named once'),
);

const labelBody = v.strictObject({ ...tenantEntries, version: v.optional(versionNumber), versions: v.optional(split) });

const labelled = v.array(v.strictObject({ version: v.number(), weight: v.number() }));
const labelEntries = {
  label_id: uuid,
  name: v.string(),
  versions: labelled,
  /** Versions before the last change. */
  previous_versions: labelled,
  updated_by: uuid,
  last_updated_at: time,
};

/** Routes of the labels of prompts. A label decides which version requests receive, so changes need the scope for publishing. */
export const promptVersionLabelRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'PUT',
    path: '/prompts/:promptId/versions/:promptVersionId',
    summary: 'Move a label to a version of a prompt; null removes all labels of the version',
    scopes: ['prompts.publish'],
    action: 'label',
    body: versionBody,
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const found = await holdPrompt(change.tx, call, call.params.promptId ?? '');
        call.match(found);
        const { number } = await findVersion(change.tx, found, call.params.promptVersionId ?? '');
        const { label_id } = call.body;
        if (label_id === null) await removeLabels(change, found, call.actor, number);
        else
          await setLabel(change, found, call.actor, label_id, [{ version: number, weight: 1 }]).catch(
            asReference('label_id', 'Label'),
          );
        change.about(found);
      });
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/prompts/:promptId/labels',
    summary: 'List the labels of a prompt with their versions, now and before the last change',
    scopes: ['prompts.read'],
    action: 'list-labels',
    reply: listOf(v.strictObject(labelEntries)),
    async handle(call) {
      const prompt = await findPrompt(call.em, call, call.params.promptId ?? '');
      const data = (await listLabels(call.em, prompt)).map(toLabel);
      return { object: 'list', total: data.length, data };
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: '/prompts/:promptId/labels/:labelId',
    summary: 'Move a label to a version of a prompt, or split its requests between versions by weight',
    scopes: ['prompts.publish'],
    action: 'label',
    body: labelBody,
    reply: bothEnvelopes(labelEntries),
    async handle(call) {
      const { version, versions } = call.body;
      if ((version === undefined) === (versions === undefined)) throw invalid('version: required, unless versions is sent');
      const next = version === undefined ? (versions ?? []) : [{ version, weight: 1 }];
      return inBothEnvelopes(toLabel(await changeLabel(call, (...args) => setLabel(...args, next))));
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: '/prompts/:promptId/labels/:labelId',
    summary: 'Remove a label from a prompt',
    scopes: ['prompts.publish'],
    action: 'label',
    reply: emptyReply,
    async handle(call) {
      await changeLabel(call, (...args) => setLabel(...args, []));
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/prompts/:promptId/labels/:labelId/revert',
    summary: 'Undo the last change of a label of a prompt',
    scopes: ['prompts.publish'],
    action: 'revert-label',
    body: tenantQuery,
    reply: bothEnvelopes(labelEntries),
    handle: async (call) => inBothEnvelopes(toLabel(await changeLabel(call, revertLabel))),
  }),
];

type Call = Pick<AdminCall<unknown, unknown>, 'organisationId' | 'workspaceId' | 'params' | 'actor' | 'match' | 'write'>;

function changeLabel(
  call: Call,
  work: (change: Change, prompt: Prompt, actor: Actor, label: string) => Promise<NamedLabel>,
): Promise<NamedLabel> {
  return call.write(async (change) => {
    const found = await holdPrompt(change.tx, call, call.params.promptId ?? '');
    call.match(found);
    return work(change, found, call.actor, call.params.labelId ?? '');
  });
}

function toLabel({ name, row }: NamedLabel) {
  return {
    label_id: row.labelId,
    name,
    versions: row.versions,
    previous_versions: row.previous,
    updated_by: row.updatedBy,
    last_updated_at: row.lastUpdatedAt.toISOString(),
  };
}
