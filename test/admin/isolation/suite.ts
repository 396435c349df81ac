import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminRoutes } from '../../../admin/tables.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { type PlaneGateway, startPlaneGateway } from '../support/plane-gateway.ts';
import type { DatabaseName } from '../support/test-database.ts';
import { type Attacker, mark, newAttacker, type Tenancy, tenancies } from './tenancies.ts';
import { requiredQuery, type Step, stepsOf } from './walk.ts';

const atATime = 3;

/** Number of groups of callers; at each step one group asks, in turn. With LONG_TESTS every caller asks at every step. */
const turns = process.env.LONG_TESTS ? 1 : 16;

/** Runs all steps on one database: no key or user reaches data of another organisation or workspace. */
export function describeIsolation(database: DatabaseName): void {
  describe(`isolation, on ${database}`, () => {
    let gateway: PlaneGateway;
    let plane: Plane;
    let attacker: Attacker;
    beforeAll(async () => {
      gateway = await startPlaneGateway();
      const unlimited = { ADMIN_REQUESTS_PER_KEY: '0', ADMIN_REQUESTS_PER_ADDRESS: '0' };
      plane = await startPlane(database, { ...unlimited, GATEWAY_URL: gateway.url });
      gateway.serve(plane);
      attacker = await newAttacker(plane);
    });
    afterAll(async () => {
      await gateway?.close();
      await plane?.close();
    });

    it('requests are refused for being foreign: the same requests about one’s own items succeed', async () => {
      const replied = new Map<string, boolean>();
      for (const { route, path } of stepsOf(attacker, attacker)) {
        if (route.method !== 'GET' || route.signedIn === 'required') continue;
        const { status } = await plane.ask('GET', path);
        replied.set(route.path, (replied.get(route.path) ?? false) || status === 200);
      }
      // No request has left a log here, no event a delivery, no export has run, and no test set. Groups need the name of a dimension.
      replied.delete('/logs/:id');
      // Only SCIM tokens reach these; the tests of SCIM walk them.
      for (const path of replied.keys()) if (path.startsWith('/scim/:organisationId/')) replied.delete(path);
      replied.delete('/logs/exports/:exportId/download');
      replied.delete('/logs/groups/:groupBy');
      replied.delete('/webhooks/:slug/deliveries/:deliveryId');
      for (const path of ['', '/results', '/compare']) replied.delete(`/prompts/test-runs/:testRunId${path}`);
      expect([...replied].filter(([, well]) => !well).map(([path]) => path)).toEqual([]);
      expect(replied.size).toBeGreaterThan(20);
    });

    describe.each(Object.entries(tenancies))('what belongs to %s', (_what, make) => {
      let tenancy: Tenancy;
      // Tenancies follow each other: callers of the first one would see the second victim, which is in their organisation.
      beforeAll(async () => {
        tenancy = await make(plane, attacker);
      });

      /** Every row of the victim, in every table. */
      async function rowsOfVictim(): Promise<Record<string, unknown[]>> {
        const { column, id } = tenancy.rows;
        const em = plane.control.services.database.em();
        const tables = await em.execute<{ name: string }[]>(
          "select table_name as name from information_schema.columns where table_schema = 'public' and column_name = ?",
          [column],
        );
        const out: Record<string, unknown[]> = {};
        for (const { name } of tables) {
          const rows = await em.execute<{ row: string }[]>(
            `select to_jsonb(t)::text as row from ${name} t where ${column}::text = ? order by 1`,
            [id],
          );
          out[name] = rows.map((one) => one.row);
        }
        return out;
      }

      /** Sends the request as every caller, a few at a time. All at once would be so slow on a busy machine that some get 503. */
      async function asEverybody(method: string, path: string, body?: unknown, turn: number | null = null) {
        const ask = async ([who, key]: readonly [string, string]) => {
          const reply = await plane.ask(method, path, { key, ...(body === undefined ? {} : { body }) });
          return { who, status: reply.status, text: JSON.stringify(reply.body) };
        };
        // At least one caller asks at each step.
        const groups = turn === null ? 1 : Math.min(turns, tenancy.callers.size);
        const callers = [...tenancy.callers].filter((_, at) => (at + (turn ?? 0)) % groups === 0);
        const told: Awaited<ReturnType<typeof ask>>[] = [];
        while (callers.length > 0) told.push(...(await Promise.all(callers.splice(0, atATime).map(ask))));
        return told;
      }

      it('cannot be reached, named, shown or changed by any key or person through any route', { timeout: 600_000 }, async () => {
        const before = await rowsOfVictim();
        expect(Object.values(before).flat().length).toBeGreaterThan(8);
        const errors: string[] = [];
        for (const [turn, step] of tenancy.steps.entries()) {
          for (const { who, status, text } of await asEverybody(step.route.method, step.path, step.body, turn)) {
            const name = `${who}: ${step.route.method} ${step.path} (${step.what})`;
            if (status !== 403 && status !== 404) errors.push(`${name} gave ${status} ${text.slice(0, 200)}`);
            if (shows(text, step)) errors.push(`${name} showed ${text.slice(0, 200)}`);
          }
        }
        expect(errors.slice(0, 40)).toEqual([]);
        expect(await rowsOfVictim()).toEqual(before);
      });

      it('is named to every route that can name anything', () => {
        const walked = new Set(tenancy.steps.map(({ route }) => route));
        const left = tenancy.routes.filter((route) => !walked.has(route));
        expect(left.map((route) => `${route.method} ${route.path}: give the walk a case`)).toEqual([]);
      });

      it('shows in no list', async () => {
        const errors: string[] = [];
        const lists = adminRoutes.filter((route) => route.method === 'GET' && !route.path.includes(':')).map(({ path }) => path);
        for (const [turn, path] of lists.entries()) {
          for (const { who, text } of await asEverybody('GET', `${path}?${requiredQuery(path)}`, undefined, turn)) {
            // The attacker's audit trail lists the attempts, with the names that were used.
            const told =
              path === '/audit-logs' ? text.replaceAll(/"(uri|request_body|query_params)":"(\\.|[^"\\])*"/g, '') : text;
            if (shows(told, null)) errors.push(`${who}: GET ${path} showed ${told.slice(0, 300)}`);
          }
        }
        expect(errors).toEqual([]);
      });

      /** Returns true if a reply holds data of the victim that the request itself did not contain. */
      function shows(text: string, step: Step | null): boolean {
        const said = step === null ? '' : `${step.path} ${JSON.stringify(step.body ?? '')}`;
        if (tenancy.secretIds.some((id) => text.includes(id) && !said.includes(id))) return true;
        return text.includes(mark) && !said.includes(mark);
      }
    });
  });
}
