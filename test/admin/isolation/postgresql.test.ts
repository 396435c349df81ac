import { describe, it } from 'vitest';
import { postgresMissing } from '../support/test-database.ts';
import { describeIsolation } from './suite.ts';

if (postgresMissing === null) describeIsolation('PostgreSQL');
else describe('isolation of tenants, on PostgreSQL', () => it.skip(postgresMissing ?? '', () => {}));
