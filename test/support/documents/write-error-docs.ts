import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorsDocument } from './error-docs.ts';

/** Run by `npm run docs:errors`. */
writeFileSync(join(import.meta.dirname, '../../../docs/errors.md'), errorsDocument());
