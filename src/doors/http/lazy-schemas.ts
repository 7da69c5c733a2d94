/**
 * Compiles the schemas of a route with its first request, not at the start: it would take a tenth of the time from
 * `npm start` to the first answer.
 */
import { AjvCompiler } from '@fastify/ajv-compiler';
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler';

const validators = AjvCompiler();
const serializers = SerializerSelector();

/** For the option `schemaController` of Fastify. */
export const LAZY_SCHEMAS = {
  compilersFactory: {
    buildValidator(...options: Parameters<typeof validators>): ReturnType<typeof validators> {
      const compile = validators(...options);
      return (route) => {
        let compiled: ReturnType<typeof compile> | undefined;
        const validate = (data: unknown) => {
          compiled ??= compile(route);
          const result = compiled(data);
          validate.errors = compiled.errors;
          return result;
        };
        validate.errors = undefined as ReturnType<typeof compile>['errors'];
        // Fastify reads only the errors of the last call from Ajv's functions.
        return validate as ReturnType<typeof compile>;
      };
    },
    buildSerializer(...options: Parameters<typeof serializers>): ReturnType<typeof serializers> {
      const compile = serializers(...options);
      return (route) => {
        let serialize: ReturnType<typeof compile> | undefined;
        return (data) => {
          serialize ??= compile(route);
          return serialize(data);
        };
      };
    },
  },
};
