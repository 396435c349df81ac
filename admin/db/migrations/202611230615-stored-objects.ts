import { Migration } from '@mikro-orm/migrations';

/** The table of objects in the object store. */
export class StoredObjects extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table stored_objects (
    key text primary key,
    organisation_id uuid not null references organisations (id),
    export_id uuid,
    newest_at timestamptz,
    deleted_at timestamptz
  )`,
  'create index stored_objects_by_export on stored_objects (export_id) where export_id is not null',
  'create index stored_objects_by_time on stored_objects (newest_at) where newest_at is not null',
  'create index stored_objects_deleted on stored_objects (organisation_id) where deleted_at is not null',
];
