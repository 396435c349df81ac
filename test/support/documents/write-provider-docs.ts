import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { providersMarkdown } from './provider-tables.ts';

/** Run by `npm run docs:providers`. */
writeFileSync(join(import.meta.dirname, '../../../docs/providers.md'), providersMarkdown());
