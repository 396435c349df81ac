import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Plane, startPlane } from '../../support/plane.ts';
import { patch, type ScimAsk, scimClient } from '../../support/scim-client.ts';
import { ruleDatabase } from '../../support/test-database.ts';

const count = 9_000;
const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const members = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => ({ value: idOf(from + n) }));

let plane: Plane;
let scim: ScimAsk;
beforeAll(async () => {
  plane = await startPlane(ruleDatabase);
  scim = await scimClient(plane);
  const em = plane.control.services.database.em();
  await em.execute(
    `insert into users (id, organisation_id, email, role, created_at, last_updated_at, revision)
     select ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, ?, 'large-' || n || '@example.com', 'member', now(), now(), 1
     from generate_series(0, ${count - 1}) n`,
    [plane.organisationId],
  );
  await em.execute(`create function refuse_many() returns trigger language plpgsql as $$ begin
    if (select count(*) from added) > 5000 then raise 'too many members in one statement'; end if; return null; end $$`);
  await em.execute(`create trigger refuse_many after insert on scim_group_members referencing new table as added
    for each statement execute function refuse_many()`);
});
afterAll(async () => {
  // Other files use the database after this one.
  await plane?.control.services.database.em().execute('drop function if exists refuse_many cascade');
  await plane?.close();
});

it('members of a large group are added in statements of some thousands, which end within the time limit of the database', async () => {
  const made = await scim('POST', '/Groups', { displayName: 'large', members: members(0, 8_500) });
  expect([made.status, made.body.members.length]).toEqual([201, 8_500]);
  const path = `/Groups/${made.body.id}`;
  const unknown = await scim('PATCH', path, patch({ op: 'add', path: 'members', value: members(0, count + 1) }));
  expect([unknown.status, unknown.body.detail]).toEqual([400, `members[${count}].value: User not found`]);
  const twice = [...members(4_000, count), ...members(4_000, count)];
  const replaced = await scim('PUT', path, { displayName: 'large', members: twice });
  expect([replaced.status, replaced.body.members.length]).toEqual([200, count - 4_000]);
});
