import { Converter, ReflectionKind } from 'typedoc';

/** Names destructured parameters after their types; TypeDoc calls them `__namedParameters`. */
export function load({ converter }) {
  converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
    for (const parameter of project.getReflectionsByKind(ReflectionKind.Parameter)) {
      if (parameter.name.startsWith('__namedParameters'))
        parameter.name = nameOf(parameter.type?.name ?? 'Options');
    }
  });
}

function nameOf(type) {
  return type.endsWith('Options') ? 'options' : type.charAt(0).toLowerCase() + type.slice(1);
}
