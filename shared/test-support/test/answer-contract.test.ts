import { AnswerContract, type OpenApiDocument } from '@longshore/test-support';
import { expect } from 'chai';

const item = { $ref: '#/components/schemas/Car' };
const errors = { content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorPayload' } } } };

const document: OpenApiDocument = {
  servers: [{ url: 'https://api.example.com/shop/api/v1' }],
  paths: {
    '/cars': {
      get: {
        operationId: 'listCars',
        parameters: [{ name: 'limit', in: 'query', schema: { type: 'integer' } }],
        responses: {
          '200': {
            headers: { 'X-Total-Count': { schema: { type: 'integer' } } },
            content: {
              'application/json': {
                schema: {
                  type: 'array',
                  items: { anyOf: [item, { $ref: '#/components/schemas/CarFields' }] },
                },
              },
            },
          },
          '404': errors,
        },
      },
      post: {
        operationId: 'createCar',
        requestBody: { content: { 'application/json': { schema: { type: ['object', 'array'] } } } },
        responses: {
          '201': {
            content: { 'application/json': { schema: { oneOf: [item, { type: 'array', items: item }] } } },
          },
        },
      },
    },
  },
  components: {
    schemas: {
      Car: { type: 'object', required: ['id', 'name'], properties: { id: { type: 'string' } } },
      CarFields: { type: 'object', properties: { id: { type: 'string' } } },
      ErrorPayload: { type: 'object', required: ['errors'] },
    },
  },
};

describe('A contract', () => {
  const contract = new AnswerContract(document);
  const car = { id: '1', name: 'Van' };

  const breaches = (
    method: string,
    path: string,
    status: number,
    json: unknown,
    { headers = {}, body }: { headers?: Readonly<Record<string, string>>; body?: string } = {},
  ): string[] => {
    const answer = {
      status,
      headers: { 'content-type': 'application/json', ...headers },
      text: json === undefined ? '' : JSON.stringify(json),
    };
    return contract.checkAny({ method, path, headers: {}, body }, answer).map(({ fault }) => fault);
  };

  it('accepts what the document says, with and without the prefix', () => {
    for (const path of ['/shop/api/v1/cars', '/api/v1/cars/', '/api/v1/cars?limit=1'])
      expect(breaches('GET', path, 200, [car])).to.deep.equal([]);
  });

  it('reports a missing member, unless the request asks for some fields', () => {
    const undeclared = 'status 200 for a parameter that is not declared';
    expect(breaches('GET', '/api/v1/cars', 200, [{ id: '1' }])).to.deep.equal([
      "the body of status 200: /0 must have required property 'name'",
    ]);
    expect(breaches('GET', '/api/v1/cars?fields=id', 200, [{ id: '1' }])).to.deep.equal([undeclared]);
  });

  it('reports an object that answers an array', () => {
    const body = JSON.stringify([car]);
    expect(breaches('POST', '/api/v1/cars', 201, [car], { body })).to.deep.equal([]);
    expect(breaches('POST', '/api/v1/cars', 201, car, { body })).to.have.lengthOf(1);
    expect(breaches('POST', '/api/v1/cars', 201, [car], { body: JSON.stringify(car) })).to.have.lengthOf(1);
  });

  it('reports an undeclared status', () => {
    expect(breaches('GET', '/api/v1/cars', 418, {})).to.deep.equal(['status 418 is not declared']);
  });

  it('reports a code of another status', () => {
    const payload = { errors: [{ code: 42202 }] };
    expect(breaches('GET', '/api/v1/cars', 404, payload)).to.deep.equal([
      'status 404 with a code of another status',
    ]);
  });

  it('reports a header that is not as declared', () => {
    expect(breaches('GET', '/api/v1/cars', 200, [], { headers: { 'x-total-count': 'many' } })).to.deep.equal([
      'the header X-Total-Count: the whole must be integer',
    ]);
  });

  it('reports success of a call that is not in the document', () => {
    expect(breaches('DELETE', '/api/v1/cars', 204, undefined)).to.have.lengthOf(1);
    expect(breaches('GET', '/api/v1/boats', 200, [])).to.have.lengthOf(1);
    expect(breaches('GET', '/healthz', 200, {})).to.deep.equal([]);
  });
});
