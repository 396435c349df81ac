import type { MigrationObject } from '@mikro-orm/core';
import { FirstSlice } from './0001-first-slice.ts';

/** All migrations, oldest first. A list, not a folder scan: it stays right when the program is packed into other files. */
export const migrations: MigrationObject[] = [{ name: '0001-first-slice', class: FirstSlice }];
