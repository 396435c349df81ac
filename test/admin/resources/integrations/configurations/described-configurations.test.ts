import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, describe as group, it } from 'vitest';
import { describe } from '../../../../../admin/openapi/to-json-schema.ts';
import { createBody } from '../../../../../admin/resources/integrations/schema.ts';
import { declarations } from '../../../../../core/providers/declarations.ts';
import { sampleWith, storedSettings } from '../../../../support/samples/sample-settings.ts';

const schema = describe(createBody, 'input', '', new Map());
const validate = new Ajv2020({ strict: false }).compile(schema);
const body = (id: string, configurations: unknown) => ({ name: 'x', ai_provider_id: id, configurations });

group('the OpenAPI schema of an integration', () => {
  it.each(declarations.map((declaration) => [declaration.id, declaration] as const))(
    'accepts every setting of %s',
    (id, declaration) => {
      for (const [name] of storedSettings(declaration)) {
        expect([name, validate(body(id, sampleWith(declaration, name).configurations)), validate.errors]).toEqual([
          name,
          true,
          null,
        ]);
      }
    },
  );

  it.each([
    ['groq', { aws_region: 'eu-central-1' }],
    ['bedrock', { aws_region: 'Frankfurt' }],
    ['sagemaker', { aws_auth_type: 'apiKey' }],
    ['palm', { vertex_region: 'eu' }],
  ])('described configurations: %s with %j is rejected', (id, configurations) => {
    expect(validate(body(id, configurations))).toBe(false);
  });
});
