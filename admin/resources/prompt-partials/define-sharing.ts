import type { DocumentKind } from '../../../core/contract/protocol/documents.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Tenant } from '../../db/tenant.ts';
import type { AdminCall } from '../../http/admin-call.ts';
import { emptyReply, inBothEnvelopes } from '../../http/reply/reply-schemas.ts';
import { tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import type { Change } from '../../publish/write-change.ts';
import { share, shareBody, shareReply, toShareReply, unshare, unshareBody } from './share.ts';
import { announceShare, type SharedItem, touch } from './shared-items.ts';

type Call = Pick<AdminCall<unknown, unknown>, 'organisationId' | 'workspaceId' | 'params' | 'actor' | 'match' | 'tag' | 'write'>;

/** A kind of item that workspaces share: prompts and partials. */
interface Kind<Row> {
  /** For summaries of routes. */
  readonly noun: string;
  readonly resource: string;
  /** Path of an item. Its last part is the parameter with the id or slug. */
  readonly path: string;
  /** Returns an item that the caller may read. Throws AB08. */
  find(em: EntityManager, tenant: Tenant, idOrSlug: string): Promise<Row>;
  /** Returns an item of the caller's workspace, locked. Throws AB08. */
  hold(em: EntityManager, tenant: Tenant, idOrSlug: string): Promise<Row>;
  readonly document: DocumentKind;
}

/** Returns the routes that share items of a kind with other workspaces of the organisation: to read, render and fork. */
export function defineShareRoutes<Row extends SharedItem & { revision: number }>(kind: Kind<Row>): readonly AdminRoute[] {
  const { noun, resource, path } = kind;
  const shared = { tenant: 'either', resource, query: tenantQuery, body: null } as const;
  const nameIn = ({ params }: Pick<Call, 'params'>): string => params[path.slice(path.lastIndexOf(':') + 1)] ?? '';

  async function changeShare(call: Call, work: (change: Change, row: Row) => Promise<void>) {
    const row = await call.write(async (change) => {
      const found = await kind.hold(change.tx, call, nameIn(call));
      call.match(found);
      await work(change, found);
      touch(found, call.actor);
      announceShare(change, kind.document, found);
      return found;
    });
    return inBothEnvelopes(toShareReply(row));
  }

  return [
    defineRoute({
      ...shared,
      method: 'GET',
      path: `${path}/share`,
      summary: `Read the workspaces that a ${noun} is shared with`,
      scopes: ['prompts.read'],
      action: 'read-share',
      reply: shareReply,
      handle: async (call) => inBothEnvelopes(toShareReply(await kind.find(call.em, call, nameIn(call)))),
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: `${path}/share`,
      summary: `Share a ${noun} with further workspaces, or with the organisation`,
      scopes: ['prompts.update'],
      action: 'share',
      body: shareBody,
      reply: shareReply,
      handle: (call) => changeShare(call, ({ tx }, row) => share(tx, row, call.body.shared_with, false)),
    }),
    defineRoute({
      ...shared,
      method: 'PUT',
      path: `${path}/share`,
      summary: `Share a ${noun} with exactly these workspaces, or with the organisation`,
      scopes: ['prompts.update'],
      action: 'share',
      body: shareBody,
      reply: shareReply,
      handle: (call) => changeShare(call, ({ tx }, row) => share(tx, row, call.body.shared_with, true)),
    }),
    defineRoute({
      ...shared,
      method: 'DELETE',
      path: `${path}/share`,
      summary: `Stop sharing a ${noun}`,
      scopes: ['prompts.update'],
      action: 'unshare',
      reply: emptyReply,
      async handle(call) {
        await changeShare(call, ({ tx }, row) => unshare(tx, row, undefined));
        return {};
      },
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: `${path}/unshare`,
      summary: `Stop sharing a ${noun}, with all or with some workspaces`,
      scopes: ['prompts.update'],
      action: 'unshare',
      body: unshareBody,
      reply: shareReply,
      handle: (call) => changeShare(call, ({ tx }, row) => unshare(tx, row, call.body.shared_with)),
    }),
  ];
}
