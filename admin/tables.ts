import type { EntitySchema, MigrationObject } from '@mikro-orm/core';
import type { DocumentReader, HousekeepingTask, JobKind, RecordWriter, Resource, Sample } from './define-resource.ts';
import type { PublicRoute } from './http/public-route.ts';
import type { AdminRoute } from './http/route.ts';
import { infrastructure } from './infrastructure.ts';
import { type Dependents, ownerKinds } from './publish/dependents.ts';
import { listedResources } from './resources/index.ts';

/** Every resource, after those that it names in `after`. */
export const resources: readonly Resource[] = inOrder(listedResources);

const all = [infrastructure, ...resources];

/** All tables of the ORM. */
export const entities: readonly EntitySchema[] = all.flatMap((one) => one.entities ?? []);

/** All migrations, oldest first. A name begins with a number (the oldest ones) or with the time at which it was written. */
export const migrations: readonly MigrationObject[] = all
  .flatMap((one) => one.migrations ?? [])
  .sort((left, right) => (left.name < right.name ? -1 : 1));

/** Every route of the admin API. */
export const adminRoutes: readonly AdminRoute[] = all.flatMap((one) => one.routes ?? []);

/** Routes without authentication. */
export const publicRoutes: readonly PublicRoute[] = all.flatMap((one) => one.publicRoutes ?? []);

export const documentReaders: readonly DocumentReader[] = all.flatMap((one) => one.documents ?? []);

/** Rows that belong to a row of another resource, in the order in which they can be removed. */
export const dependents = Object.fromEntries(
  ownerKinds.map((kind) => [kind, all.toReversed().flatMap((one) => one.dependents?.[kind] ?? [])]),
) as unknown as Dependents;

export const housekeepingTasks: readonly HousekeepingTask[] = all.flatMap((one) => one.housekeeping ?? []);

export const jobKinds: readonly JobKind[] = all.flatMap((one) => one.jobs ?? []);

export const recordWriters: readonly RecordWriter[] = all.flatMap((one) => one.recordWriters ?? []);

/** Bodies that create one item of every resource, for tests of the API as a whole. */
export const samples: readonly Sample[] = all.flatMap((one) => one.samples ?? []);

/** Sorts resources by name and by `after`. Throws Error if `after` names no resource or forms a circle. */
export function inOrder(unordered: readonly Resource[]): Resource[] {
  const byName = new Map(unordered.map((one) => [one.name, one]));
  const ordered = new Set<Resource>();
  const add = (name: string, path: readonly string[]): void => {
    const one = byName.get(name);
    if (!one) throw new Error(`${path.at(-1)}: after names ${name}, which is no resource`);
    if (path.includes(name)) throw new Error(`resources: after forms a circle: ${[...path, name].join(', ')}`);
    for (const other of one.after ?? []) add(other, [...path, name]);
    ordered.add(one);
  };
  for (const name of [...byName.keys()].sort()) add(name, []);
  return [...ordered];
}
