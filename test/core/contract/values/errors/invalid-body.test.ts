import * as v from 'valibot';
import { expect, it } from 'vitest';
import { invalidBody } from '../../../../../core/contract/values/errors/invalid-body.ts';

const schema = v.strictObject({ config: v.string(), limit: v.optional(v.number()) });
const errorOf = (body: unknown) => {
  const { issues } = v.safeParse(schema, body);
  if (!issues) throw new Error('the body is valid');
  return invalidBody(issues, schema);
};

it('invalid bodies: message and param name a misspelt key before the key that is then missing', () => {
  expect(errorOf({ cofig: 'a' })).toMatchObject({
    ...{ status: 400, code: 'bad_request', param: 'cofig', message: 'cofig: unknown key; did you mean config?' },
    errors: ['cofig: unknown key; did you mean config?', 'config: required'],
  });
});

it('invalid bodies: message and param name the first issue if all keys are known', () => {
  expect(errorOf({ config: 7, limit: 'x' })).toMatchObject({
    param: 'config',
    message: 'config: expected string, received number',
  });
});
