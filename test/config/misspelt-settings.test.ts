import { describe, expect, it } from 'vitest';
import { misspeltSettings } from '../../config/misspelt-settings.ts';
import { settingsTable } from '../../config/settings-table.ts';

describe('misspeltSettings', () => {
  it('suggests the closest setting', () => {
    expect(
      misspeltSettings({ GATEWAY_PROCESES: '2', DATABASE_URI: 'x', LOGLEVEL: 'x', DRIAN_TIMEOUT: '1', data_dir: 'x' }),
    ).toEqual([
      'GATEWAY_PROCESES: unknown setting; did you mean GATEWAY_PROCESSES?',
      'DATABASE_URI: unknown setting; did you mean DATABASE_URL?',
      'LOGLEVEL: unknown setting; did you mean LOG_LEVEL?',
      'DRIAN_TIMEOUT: unknown setting; did you mean DRAIN_TIMEOUT?',
      'data_dir: unknown setting; did you mean DATA_DIR?',
    ]);
  });

  it('ignores a name whose closest setting is set as well', () => {
    expect(misspeltSettings({ HTTP_PROXY: 'http://proxy:3128' })).toHaveLength(1);
    expect(misspeltSettings({ HTTP_PROXY: 'http://proxy:3128', HTTPS_PROXY: 'http://proxy:3128' })).toEqual([]);
    expect(misspeltSettings({ HTTP_PROXY: 'http://proxy:3128', HTTPS_PROXY_FILE: '/run/secrets/proxy' })).toEqual([]);
  });

  it('suggests the closest name of a setting that is given as a file', () => {
    expect(misspeltSettings({ DATABSE_URL_FILE: '/run/secrets/url' })).toEqual([
      'DATABSE_URL_FILE: unknown setting; did you mean DATABASE_URL_FILE?',
    ]);
    expect(misspeltSettings({ DATABSE_URL_FILE: '/run/secrets/url', DATABASE_URL: 'x' })).toEqual([]);
  });

  it('names settings that cannot be given as a file', () => {
    expect(misspeltSettings({ S3_ACCESS_KEY_ID_FILE: '/run/secrets/id', CLUSTER_KEY_FILE: '/run/secrets/key' })).toEqual([
      'S3_ACCESS_KEY_ID_FILE: unknown setting; S3_ACCESS_KEY_ID cannot be given as a file',
    ]);
  });

  it('ignores known and foreign names', () => {
    const own = Object.fromEntries(Object.values(settingsTable).map((row) => [row.name, 'x']));
    const foreign = [
      'PATH',
      'HOSTNAME',
      'HOME',
      'USER',
      'PORTS',
      'SHELL',
      'NODE_ENV',
      'TERM',
      'PWD',
      'npm_package_name',
      'PGDATA',
      'TEST_DATABASE_URL',
    ];
    expect(misspeltSettings({ ...own, ...Object.fromEntries(foreign.map((name) => [name, 'x'])) })).toEqual([]);
  });
});
