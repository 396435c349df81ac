import { expect, it } from 'vitest';
import { maskSecrets } from '../../../admin/audit/mask-secrets.ts';
import { everySecretName } from '../../../core/providers/declarations.ts';

const camelOf = (name: string) => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

it.each(everySecretName)('audit entries mask the declared credential %s in both spellings', (name) => {
  const sent = { configurations: { [name]: 'planted' }, [camelOf(name)]: 'planted' };
  expect(maskSecrets(sent)).toEqual({ configurations: { [name]: '***' }, [camelOf(name)]: '***' });
});

it('audit entries show settings that are not credentials', () => {
  expect(maskSecrets({ configurations: { aws_region: 'eu-central-1' } })).toEqual({
    configurations: { aws_region: 'eu-central-1' },
  });
});
