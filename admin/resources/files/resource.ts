import { defineResource } from '../../define-resource.ts';
import { storedFileChunks, storedFiles } from './entity.ts';
import { forgetFiles } from './forget-files.ts';

export const filesResource = defineResource({
  name: 'files',
  after: ['workspaces'],
  entities: [storedFiles, storedFileChunks],
  housekeeping: [
    {
      name: 'delete expired and abandoned files',
      run: ({ database, clock }) => forgetFiles(database.em(), new Date(clock.now())),
    },
  ],
});
