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
  await plane?.control.services.database
    .em()
    .execute('drop function if exists refuse_many, count_statements cascade; drop table if exists statements');
  await plane?.close();
});

it('members of a large group are added in statements of some thousands, which end within the time limit of the database', async () => {
  const made = await scim('POST', '/Groups', { displayName: 'large', members: members(0, 8_500) });
  expect([made.status, made.body.members.length]).toEqual([201, 8_500]);
  const path = `/Groups/${made.body.id}`;
  const unknown = await scim('PATCH', path, patch({ op: 'add', path: 'members', value: members(0, count + 1) }));
  expect([unknown.status, unknown.body.detail]).toEqual([400, `Operations[0]: members[${count}].value: User not found`]);
  const twice = [...members(4_000, count), ...members(4_000, count)];
  const replaced = await scim('PUT', path, { displayName: 'large', members: twice });
  expect([replaced.status, replaced.body.members.length]).toEqual([200, count - 4_000]);
});

it('operations for one member each are one change of all, with the result of their order', async () => {
  const em = plane.control.services.database.em();
  await em.execute('create table statements (what text not null)');
  await em.execute(`create function count_statements() returns trigger language plpgsql security definer as $$ begin
    insert into statements values (tg_op); return null; end $$`);
  await em.execute(`create trigger count_statements after insert or delete on scim_group_members
    for each statement execute function count_statements()`);
  const made = await scim('POST', '/Groups', { displayName: 'one by one' });
  const path = `/Groups/${made.body.id}`;
  await em.execute('delete from statements');
  const each = (from: number, to: number, of: (value: string) => object) =>
    members(from, to).map(({ value }) => of(value.toUpperCase()) as never);
  const add = (value: string) => ({ op: 'add', path: 'members', value: [{ value }] });
  const filtered = (value: string) => ({ op: 'remove', path: `members[value eq "${value}"]` });
  const listed = (value: string) => ({ op: 'remove', path: 'members', value: [{ value }] });
  const changed = await scim(
    'PATCH',
    path,
    patch(...each(0, 300, add), ...each(0, 100, filtered), ...each(100, 200, listed), ...each(50, 60, add)),
  );
  expect(changed.status).toBe(204);
  const { body } = await scim('GET', path);
  const left = [...members(50, 60), ...members(200, 300)].map(({ value }) => value);
  expect(body.members.map((one: { value: string }) => one.value).sort()).toEqual(left);
  const statements = await em.execute<{ what: string }[]>('select what from statements');
  expect(statements.map(({ what }) => what)).toEqual(['INSERT', 'DELETE']);

  await em.execute('delete from statements');
  const replace = (value: string) => ({ op: 'replace', path: 'members', value: [{ value }] });
  const rename = (value: string) => ({ op: 'replace', path: 'displayName', value: `named ${value}` });
  const mixed = patch(...each(0, 450, replace), ...each(0, 450, rename), ...each(460, 470, add), ...each(462, 464, listed));
  expect((await scim('PATCH', path, mixed)).status).toBe(204);
  const after = (await scim('GET', path)).body;
  const kept = [...members(449, 450), ...members(460, 462), ...members(464, 470)].map(({ value }) => value);
  expect(after.members.map((one: { value: string }) => one.value).sort()).toEqual(kept);
  expect(after.displayName).toBe(`named ${idOf(449)}`);
  const written = await em.execute<{ what: string }[]>('select what from statements');
  expect(written.map(({ what }) => what)).toEqual(['INSERT', 'DELETE']);
  const unknown = await scim('PATCH', path, patch(add(idOf(count)), replace(idOf(0)), listed(idOf(0))));
  expect([unknown.status, unknown.body.detail]).toEqual([400, 'Operations[0]: members[0].value: User not found']);
});

it('operations that together change no member leave the version of the group', async () => {
  const made = await scim('POST', '/Groups', { displayName: 'back and forth', members: members(0, 1) });
  const path = `/Groups/${made.body.id}`;
  const [one, other] = [idOf(0), idOf(1)];
  const add = (value: string) => ({ op: 'add', path: 'members', value: [{ value }] });
  const remove = (value: string) => ({ op: 'remove', path: `members[value eq "${value}"]` });
  const only = (value: string) => ({ op: 'remove', path: `members[value ne "${value}"]` });
  const none = { op: 'remove', path: 'members[value pr]' };
  for (const steps of [
    [add(other), remove(other)],
    [add(other), only(one)],
    [none, add(one)],
    [none, add(one), add(other), remove(other)],
  ]) {
    expect((await scim('PATCH', path, patch(...steps))).headers.get('etag')).toBe(made.headers.get('etag'));
  }
  const gone = await scim('PATCH', path, patch(none, add(one), remove(one)));
  expect(gone.headers.get('etag')).not.toBe(made.headers.get('etag'));
  expect((await scim('GET', path)).body.members ?? []).toEqual([]);
});

it('an unknown member is named with its operation', async () => {
  const made = await scim('POST', '/Groups', { displayName: 'unknown in an operation' });
  const steps = [
    { op: 'add', path: 'members', value: members(0, 2) },
    { op: 'remove', path: 'members', value: members(0, 1) },
    { op: 'replace', path: 'members', value: members(count - 1, count + 1) },
  ];
  const unknown = await scim('PATCH', `/Groups/${made.body.id}`, patch(...steps));
  expect([unknown.status, unknown.body.detail]).toEqual([400, 'Operations[2]: members[1].value: User not found']);
});
