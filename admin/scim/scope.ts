/** The only scope of SCIM tokens. No API key or role has it. */
export const scimScope = 'scim.provision';
