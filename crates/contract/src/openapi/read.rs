//! An OpenAPI document as operations. Untyped below: every member survives in its place.

use super::limits;
use super::resolve::{Document, Node, Place, Version};
use super::wire::{collected, plain_form, wire};
use crate::document::{Bundle, Problem};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Everything of one document that is compared.
#[derive(Debug)]
pub(crate) struct Api<'a> {
    pub document: Document<'a>,
    /// By `METHOD /template`, parameter names taken out of the template.
    pub operations: BTreeMap<String, Operation<'a>>,
    /// `webhooks`: the server sends the request.
    pub webhooks: BTreeMap<String, Operation<'a>>,
    /// Security schemes by name.
    pub schemes: BTreeMap<String, Node<'a>>,
}

/// One operation with what it inherits.
#[derive(Debug)]
pub(crate) struct Operation<'a> {
    pub node: Node<'a>,
    pub method: String,
    pub path: String,
    pub id: Option<&'a str>,
    pub deprecated: bool,
    pub parameters: BTreeMap<ParameterKey, Parameter<'a>>,
    pub body: Option<Body<'a>>,
    pub responses: BTreeMap<String, Response<'a>>,
    /// Each alternative: scheme to scopes. Empty: no credential is asked for.
    pub security: Vec<Alternative>,
    pub security_place: Place,
    /// Base addresses, the default one first.
    pub servers: Vec<String>,
    pub servers_place: Place,
    /// `name expression METHOD` to the operation that the server calls back.
    pub callbacks: BTreeMap<String, Operation<'a>>,
}

/// One way to be let in.
pub(crate) type Alternative = BTreeMap<String, BTreeSet<String>>;

impl Operation<'_> {
    /// The name in reports: `METHOD /path`.
    pub fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// The method promises to change nothing.
    pub fn reads(&self) -> bool {
        matches!(self.method.as_str(), "GET" | "HEAD" | "OPTIONS" | "QUERY")
    }

    /// The value of the response that answers `status`, be it by range or by default.
    pub fn answer(&self, status: &str) -> Option<&Response<'_>> {
        let range = format!("{}XX", status.get(..1).unwrap_or("?"));
        self.responses
            .get(status)
            .or_else(|| self.responses.get(&range))
            .or_else(|| self.responses.get("default"))
    }
}

/// What makes two parameters the same: where it is sent, and its name there. In a path the
/// name is the document's own business, the position is what counts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ParameterKey {
    pub location: String,
    pub key: String,
}

/// A parameter, or a field of a form.
#[derive(Debug)]
pub(crate) struct Parameter<'a> {
    pub node: Node<'a>,
    pub name: &'a str,
    pub required: bool,
    /// How the value is spelled on the wire: style, explode, media type.
    pub wire: String,
    pub schema: Option<Node<'a>>,
}

#[derive(Debug)]
pub(crate) struct Body<'a> {
    pub node: Node<'a>,
    pub required: bool,
    pub media: BTreeMap<String, Media<'a>>,
}

#[derive(Debug)]
pub(crate) struct Media<'a> {
    pub node: Node<'a>,
    pub schema: Option<Node<'a>>,
}

#[derive(Debug)]
pub(crate) struct Response<'a> {
    pub node: Node<'a>,
    /// By lower-case name.
    pub headers: BTreeMap<String, Header<'a>>,
    pub media: BTreeMap<String, Media<'a>>,
    pub links: BTreeMap<String, Node<'a>>,
}

#[derive(Debug)]
pub(crate) struct Header<'a> {
    pub name: &'a str,
    pub node: Node<'a>,
    pub required: bool,
    pub schema: Option<Node<'a>>,
}

const METHODS: &[&str] =
    &["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

/// Reads a bundle.
///
/// # Errors
/// All problems of the document at once, at most [`limits::PROBLEMS`].
pub(crate) fn read(bundle: &Bundle) -> Result<Api<'_>, Vec<Problem>> {
    let version = version(bundle)?;
    let document = Document { bundle, version };
    let mut reader = Reader { document, problems: Vec::new() };
    let root = document.root();
    let mut operations = BTreeMap::new();
    let mut webhooks = BTreeMap::new();
    match root.get("paths") {
        Some(paths) if paths.value.is_object() => {
            for (path, item) in paths.members().filter(|(path, _)| path.starts_with('/')) {
                reader.path_item(path, item, false, &mut operations);
            }
        }
        Some(paths) => reader.note(&paths.place, "`paths` is not an object".to_owned()),
        None => {}
    }
    for (name, item) in root.get("webhooks").iter().flat_map(Node::members) {
        reader.path_item(name, item, true, &mut webhooks);
    }
    let schemes = match version {
        Version::Swagger2 => root.get("securityDefinitions"),
        _ => root.get("components").and_then(|components| components.get("securitySchemes")),
    };
    let mut by_name = BTreeMap::new();
    for (name, node) in schemes.iter().flat_map(Node::members) {
        if let Some(node) = reader.follow(node) {
            by_name.insert(name.clone(), node);
        }
    }
    if reader.problems.is_empty() {
        Ok(Api { document, operations, webhooks, schemes: by_name })
    } else {
        Err(reader.problems)
    }
}

fn version(bundle: &Bundle) -> Result<Version, Vec<Problem>> {
    let root = &bundle.root;
    let text = |key: &str| match root.get(key) {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    let (found, place) = match (text("openapi"), text("swagger")) {
        (Some(version), _) => (version, "#/openapi"),
        (None, Some(version)) => (version, "#/swagger"),
        (None, None) => (String::new(), "#"),
    };
    match found.as_str() {
        "2.0" | "2" => Ok(Version::Swagger2),
        v if v == "3.0" || v.starts_with("3.0.") => Ok(Version::V30),
        v if v == "3.1" || v.starts_with("3.1.") => Ok(Version::V31),
        v => Err(vec![Problem {
            place: format!("{}{place}", bundle.name),
            sentence: if v.is_empty() {
                "this is not an OpenAPI document: it has no `openapi` member".to_owned()
            } else {
                format!("the document says it is OpenAPI {v}, which is not known here")
            },
            help: "OpenAPI 3.0 and 3.1 are read, and Swagger 2.0.".to_owned(),
        }]),
    }
}

struct Reader<'a> {
    document: Document<'a>,
    problems: Vec<Problem>,
}

impl<'a> Reader<'a> {
    fn note(&mut self, place: &Place, sentence: String) {
        if self.problems.len() < limits::PROBLEMS {
            let problem = self.document.problem(place, sentence);
            self.problems.push(problem);
        }
    }

    fn follow(&mut self, node: Node<'a>) -> Option<Node<'a>> {
        match self.document.follow(node) {
            Ok(node) if node.value.is_object() => Some(node),
            Ok(node) => {
                self.note(&node.place, "an object is expected here".to_owned());
                None
            }
            Err(problem) => {
                if self.problems.len() < limits::PROBLEMS {
                    self.problems.push(problem);
                }
                None
            }
        }
    }

    fn path_item(
        &mut self,
        path: &'a str,
        item: Node<'a>,
        webhook: bool,
        into: &mut BTreeMap<String, Operation<'a>>,
    ) {
        let Some(item) = self.follow(item) else {
            return;
        };
        for (method, node) in item.members() {
            if !METHODS.contains(&method.as_str()) {
                continue;
            }
            if !node.value.is_object() {
                self.note(&node.place, "an operation must be an object".to_owned());
                continue;
            }
            let operation = self.operation(path, method, &item, node);
            let key = if webhook {
                format!("{} {path}", operation.method)
            } else {
                format!("{} {}", operation.method, template(path))
            };
            if let Some(twin) = into.get(&key) {
                let sentence = format!(
                    "the path `{path}` is the same template as `{}`: only parameter names differ",
                    twin.path
                );
                self.note(&operation.node.place, sentence);
            } else {
                into.insert(key, operation);
            }
        }
    }

    fn operation(
        &mut self,
        path: &'a str,
        method: &str,
        item: &Node<'a>,
        node: Node<'a>,
    ) -> Operation<'a> {
        let mut parameters = BTreeMap::new();
        let mut form = Vec::new();
        let mut body = None;
        // The operation's own parameters override those of its path.
        for list in [item.get("parameters"), node.get("parameters")] {
            for parameter in list.iter().flat_map(Node::items) {
                let Some(parameter) = self.follow(parameter) else {
                    continue;
                };
                match parameter.text("in") {
                    Some("body") => body = Some(self.swagger_body(&node, parameter)),
                    Some("formData") => form.push(parameter),
                    Some(location) => {
                        if let Some((key, read)) = self.parameter(path, location, parameter) {
                            parameters.insert(key, read);
                        }
                    }
                    None => self.note(
                        &parameter.place,
                        "the parameter does not say where it is sent (`in`)".to_owned(),
                    ),
                }
            }
        }
        for field in form {
            let key = ParameterKey {
                location: "form".to_owned(),
                key: field.text("name").unwrap_or_default().to_owned(),
            };
            let read = Parameter {
                name: field.text("name").unwrap_or_default(),
                required: field.flag("required").unwrap_or(false),
                wire: collected("form", field.text("collectionFormat").unwrap_or("csv")),
                schema: Some(field.clone()),
                node: field,
            };
            parameters.insert(key, read);
        }
        if let Some(request) = node.get("requestBody").and_then(|request| self.follow(request)) {
            body = Some(Body {
                required: request.flag("required").unwrap_or(false),
                media: self.content(&request),
                node: request,
            });
        }
        let mut responses = BTreeMap::new();
        for (status, response) in node.get("responses").iter().flat_map(Node::members) {
            if status.starts_with("x-") {
                continue;
            }
            if let Some(response) = self.follow(response) {
                responses.insert(status.to_ascii_uppercase().replace("DEFAULT", "default"), {
                    self.response(&node, response)
                });
            }
        }
        let mut callbacks = BTreeMap::new();
        for (name, callback) in node.get("callbacks").iter().flat_map(Node::members) {
            let Some(callback) = self.follow(callback) else {
                continue;
            };
            for (expression, target) in callback.members() {
                let mut called = BTreeMap::new();
                self.path_item(expression, target, true, &mut called);
                for (key, operation) in called {
                    callbacks.insert(format!("{name} {key}"), operation);
                }
            }
        }
        let (security, security_place) = self.security(&node);
        let (servers, servers_place) = self.servers(item, &node);
        Operation {
            method: method.to_ascii_uppercase(),
            path: path.to_owned(),
            id: node.text("operationId"),
            deprecated: node.flag("deprecated").unwrap_or(false),
            parameters,
            body,
            responses,
            security,
            security_place,
            servers,
            servers_place,
            callbacks,
            node,
        }
    }

    fn parameter(
        &mut self,
        path: &str,
        location: &str,
        node: Node<'a>,
    ) -> Option<(ParameterKey, Parameter<'a>)> {
        let Some(name) = node.text("name") else {
            self.note(&node.place, "the parameter has no `name`".to_owned());
            return None;
        };
        let key = match location {
            "path" => names(path)
                .position(|found| found == name)
                .map_or_else(|| name.to_owned(), |at| format!("{at:03}")),
            "header" => name.to_ascii_lowercase(),
            _ => name.to_owned(),
        };
        let content = node.get("content");
        let (schema, wire) = if self.document.version == Version::Swagger2 {
            let format = node.text("collectionFormat").unwrap_or("csv");
            let is_array = node.text("type") == Some("array");
            let wire = if is_array { collected(location, format) } else { plain_form(location) };
            (Some(node.clone()), wire)
        } else if let Some((media, content)) =
            content.as_ref().and_then(|content| content.members().next())
        {
            (content.get("schema"), format!("as {}", media_type(media)))
        } else {
            (node.get("schema"), wire(location, &node))
        };
        Some((
            ParameterKey { location: location.to_owned(), key },
            Parameter {
                name,
                required: node.flag("required").unwrap_or(location == "path"),
                wire,
                schema,
                node,
            },
        ))
    }

    fn content(&mut self, holder: &Node<'a>) -> BTreeMap<String, Media<'a>> {
        holder
            .get("content")
            .iter()
            .flat_map(Node::members)
            .map(|(name, node)| {
                let schema = node.get("schema");
                (media_type(name), Media { node, schema })
            })
            .collect()
    }

    /// Swagger 2: the media types stand beside the operation, not beside the body.
    fn listed(&self, operation: &Node<'a>, key: &str) -> Vec<String> {
        let list = operation.get(key).or_else(|| self.document.root().get(key));
        let found: Vec<String> = list
            .iter()
            .flat_map(Node::items)
            .filter_map(|item| item.value.as_str().map(media_type))
            .collect();
        if found.is_empty() { vec!["application/json".to_owned()] } else { found }
    }

    fn swagger_body(&mut self, operation: &Node<'a>, parameter: Node<'a>) -> Body<'a> {
        let media = self
            .listed(operation, "consumes")
            .into_iter()
            .map(|name| {
                let schema = parameter.get("schema");
                (name, Media { node: parameter.clone(), schema })
            })
            .collect();
        Body { required: parameter.flag("required").unwrap_or(false), media, node: parameter }
    }

    fn response(&mut self, operation: &Node<'a>, node: Node<'a>) -> Response<'a> {
        let swagger = self.document.version == Version::Swagger2;
        let mut headers = BTreeMap::new();
        for (name, header) in node.get("headers").iter().flat_map(Node::members) {
            let Some(header) = self.follow(header) else {
                continue;
            };
            let schema = if swagger {
                Some(header.clone())
            } else {
                header.get("schema").or_else(|| {
                    let content = header.get("content")?;
                    let (_, media) = content.members().next()?;
                    media.get("schema")
                })
            };
            headers.insert(
                name.to_ascii_lowercase(),
                Header {
                    name,
                    required: header.flag("required").unwrap_or(false),
                    schema,
                    node: header,
                },
            );
        }
        let media = match node.get("schema").filter(|_| swagger) {
            Some(schema) => self
                .listed(operation, "produces")
                .into_iter()
                .map(|name| {
                    let media = Media { node: schema.clone(), schema: Some(schema.clone()) };
                    (name, media)
                })
                .collect(),
            None => self.content(&node),
        };
        let mut links = BTreeMap::new();
        for (name, link) in node.get("links").iter().flat_map(Node::members) {
            if let Some(link) = self.follow(link) {
                links.insert(name.clone(), link);
            }
        }
        Response { headers, media, links, node }
    }

    fn security(&mut self, operation: &Node<'a>) -> (Vec<Alternative>, Place) {
        let own = operation.get("security");
        let place = operation.place.child("security");
        let Some(list) = own.or_else(|| self.document.root().get("security")) else {
            return (Vec::new(), place);
        };
        let mut alternatives: Vec<Alternative> = list
            .items()
            .map(|alternative| {
                alternative
                    .members()
                    .map(|(scheme, scopes)| {
                        let scopes = scopes
                            .items()
                            .filter_map(|scope| scope.value.as_str().map(str::to_owned))
                            .collect();
                        (scheme.clone(), scopes)
                    })
                    .collect()
            })
            .collect();
        alternatives.sort();
        alternatives.dedup();
        (alternatives, list.place)
    }

    fn servers(&self, item: &Node<'a>, operation: &Node<'a>) -> (Vec<String>, Place) {
        let nearest = operation.get("servers").or_else(|| item.get("servers"));
        match nearest {
            Some(list) if self.document.version != Version::Swagger2 => (urls(&list), list.place),
            _ => root_servers(&self.document),
        }
    }
}

/// The base addresses of the document as a whole, the default one first.
pub(crate) fn root_servers(document: &Document<'_>) -> (Vec<String>, Place) {
    let root = document.root();
    if document.version == Version::Swagger2 {
        let base = root.text("basePath").unwrap_or("");
        let host = root.text("host").unwrap_or("");
        let scheme = root
            .get("schemes")
            .and_then(|schemes| schemes.items().next())
            .and_then(|scheme| scheme.value.as_str())
            .unwrap_or("https");
        let url =
            if host.is_empty() { base.to_owned() } else { format!("{scheme}://{host}{base}") };
        return (vec![trim(&url)], root.place.child("basePath"));
    }
    match root.get("servers") {
        Some(list) => (urls(&list), list.place),
        None => (vec!["/".to_owned()], root.place.child("servers")),
    }
}

fn urls(list: &Node<'_>) -> Vec<String> {
    list.items()
        .filter_map(|server| {
            let mut url = server.text("url")?.to_owned();
            for (name, variable) in server.get("variables").iter().flat_map(Node::members) {
                let default = variable.text("default").unwrap_or_default();
                url = url.replace(&format!("{{{name}}}"), default);
            }
            Some(trim(&url))
        })
        .collect()
}

/// A trailing slash is notation.
fn trim(url: &str) -> String {
    let trimmed = url.trim_end_matches('/');
    if trimmed.is_empty() { "/" } else { trimmed }.to_owned()
}

/// A path with its parameter names taken out, a trailing slash kept: servers tell them apart.
pub(crate) fn template(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    let mut inside = false;
    for letter in path.chars() {
        match letter {
            '{' => {
                inside = true;
                out.push('{');
            }
            '}' => {
                inside = false;
                out.push('}');
            }
            other if !inside => out.push(other),
            _ => {}
        }
    }
    out
}

/// The parameter names of a path, in order.
pub(crate) fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('{').skip(1).filter_map(|rest| rest.split_once('}').map(|(name, _)| name))
}

/// A media type without its parameters, which name a character set or a profile.
fn media_type(name: &str) -> String {
    name.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}
