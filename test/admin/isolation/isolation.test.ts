import { ruleDatabases } from '../support/test-database.ts';
import { describeIsolation } from './suite.ts';

for (const database of ruleDatabases) describeIsolation(database);
